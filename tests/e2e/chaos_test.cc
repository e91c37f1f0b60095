// SPDX-License-Identifier: Apache-2.0
//
// Chaos: bugs show that otherwise do not, correct programs stay correct and get done, and what was
// recorded is whole although threads were left in the middle of instructions. And the hunt for a
// failure over many runs.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "e2e/record.h"
#include "support/small_trace.h"
#include "support/trace_checker.h"

namespace svd::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// One of each kind, with the length of turns at both ends of what seeds choose.
const std::vector<std::string> kModes{"1,random,quantum=50", "1,random,quantum=20000",
                                      "1,pct,quantum=50,depth=100000",
                                      "1,pct,quantum=100000,depth=10"};

long lost_updates(const std::string& kind, const std::vector<std::string>& options) {
  Recording recording(program("lost_update " + kind + " 5000"), options);
  EXPECT_EQ(recording.result().exit_code, 0) << recording.result().err;
  return std::stol(recording.result().out);
}

TEST(Chaos, UpdatesAreLostBetweenInstructionsAndInsideOne) {
  for (const char* mode : {"--chaos=1,random,quantum=50", "--chaos=2,random,quantum=1000",
                           "--chaos=3,pct,quantum=50,depth=100000"}) {
    EXPECT_GE(lost_updates("split", {mode}), 100) << mode;
    EXPECT_GE(lost_updates("single", {mode}), 20) << mode;
  }
}

TEST(Chaos, NothingIsLostThatIsProtected) {
  for (const std::string& mode : kModes) {
    EXPECT_EQ(lost_updates("locked", {"--chaos=" + mode}), 0) << mode;
    EXPECT_EQ(lost_updates("atomic", {"--chaos=" + mode}), 0) << mode;
  }
}

class ChaosProof : public testing::TestWithParam<std::string> {};

TEST_P(ChaosProof, NothingIsMissing) {
  for (const char* mode :
       {"--chaos=7,random,quantum=20", "--chaos=7,pct,quantum=50,depth=100000"}) {
    Recording recording(program(GetParam()), {mode});
    ASSERT_EQ(recording.result().exit_code, 0) << mode << recording.result().err;
    EXPECT_EQ(unsound(recording.path()), "");
    TraceCheck check = check_trace(recording.trace());
    EXPECT_EQ(check.illegal_transitions, 0U) << mode << check.describe();
    EXPECT_GE(check.share_equal(), 0.999) << mode << check.describe();
    EXPECT_GT(check.loads_equal, check.loads / 2) << mode;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ChaosProof,
                         testing::Values("atomics", "bank 16", "bank-static 2", "exceptions",
                                         "lost_update single", "rwlocks", "signals", "thread_life",
                                         "work_queue 15"));

// They end with status 0 only if they did what they should; a run that hangs fails the test.
TEST(Chaos, ProgramsThatWaitAreDone) {
  for (const std::string& mode : kModes) {
    for (const char* command : {"spin bare 50", "spin pause 50", "spin yield 50", "spin sleep 50",
                                "spin lock 50", "conditions", "semaphores", "mutexes"}) {
      Recording recording(program(command), {"--chaos=" + mode, "--no-values"});
      EXPECT_EQ(recording.result().exit_code, 0)
          << command << " " << mode << recording.result().err;
    }
  }
}

TEST(Chaos, TimeOutsAreNotProvoked) {
  for (const std::string& mode : kModes) {
    Recording recording(program("time_outs"), {"--chaos=" + mode, "--no-values"});
    EXPECT_EQ(recording.result().out, "0 late\n") << mode;
  }
}

TEST(Chaos, ExitsAndDeathsAreTheProgramsOwn) {
  for (const std::string& mode : kModes) {
    Recording exits(program("exits from-thread"), {"--chaos=" + mode});
    Recording plain(program("exits from-thread"));
    EXPECT_EQ(ending(exits.result()), ending(plain.result())) << mode;
    Recording crash(program("crash thread-segv"), {"--chaos=" + mode});
    Recording plain_crash(program("crash thread-segv"));
    EXPECT_EQ(ending(crash.result()), ending(plain_crash.result())) << mode;
    EXPECT_EQ(unsound(crash.path()), "");
  }
}

TEST(Chaos, TheSeedIsToldAndKept) {
  Recording recording(program("nothing"), {"--chaos=16", "--stats"});
  EXPECT_THAT(recording.result().err,
              AllOf(HasSubstr("; seed 16 (random, quantum 50)"), HasSubstr("\"seed\": 16}")));
  EXPECT_EQ(recording.trace().process().engine_options, "seed 16 (random, quantum 50)");
  Recording other(program("nothing"), {"--chaos=17,strong,depth=7"});
  EXPECT_EQ(other.trace().process().engine_options, "seed 17 (pct, quantum 20, depth 7)");
  Recording any(program("nothing"), {"--chaos"});
  EXPECT_THAT(any.result().err, HasSubstr("; seed "));
}

// ---- many runs ----

// svd-record on a shell's command line, in a folder of its own.
class Hunt {
 public:
  Hunt() : folder_(temp_path("hunt")) { fs::create_directory(folder_); }
  ~Hunt() { fs::remove_all(folder_); }
  Hunt(const Hunt&) = delete;
  Hunt& operator=(const Hunt&) = delete;

  const fs::path& folder() const { return folder_; }
  CommandResult run(std::vector<std::string> options, const std::vector<std::string>& words,
                    const CommandOptions& command = {}) const {
    options.insert(options.begin(), SVD_BIN_DIR "/svd-record");
    options.emplace_back("--");
    options.insert(options.end(), words.begin(), words.end());
    return run_command(options, command);
  }
  std::string file(const std::string& name) const { return folder_ / name; }
  std::vector<std::string> names(const std::string& below = "") const {
    std::vector<std::string> list;
    for (const auto& entry : fs::directory_iterator(folder_ / below)) {
      if (entry.is_regular_file()) list.push_back(entry.path().filename());
    }
    std::sort(list.begin(), list.end());
    return list;
  }

 private:
  fs::path folder_;
};

TEST(Runs, UntilTheCheckFails) {
  Hunt hunt;
  CommandResult result = hunt.run({"--chaos=1", "--runs=20", "--until-failure", "-o",
                                   hunt.file("t.fb"), "--check=read lost && test $lost = 0"},
                                  program("lost_update split 2000"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("failed: its check has status 1; again: --chaos="),
                                HasSubstr(" 1 failed, seeds 1 to ")));
  EXPECT_GT(std::stol(result.out), 0) << "what the failing run wrote, and nothing else";
  EXPECT_THAT(hunt.names(), testing::ElementsAre("t.fb"));
  EXPECT_EQ(unsound(hunt.file("t.fb")), "");
}

TEST(Runs, NoFailureIsStatus1AndLeavesNothing) {
  Hunt hunt;
  CommandResult result =
      hunt.run({"--runs=3", "-q", "-o", hunt.file("t%n.fb"), "--check=read lost && test $lost = 0"},
               program("lost_update locked 50"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out + result.err, "");
  EXPECT_THAT(hunt.names(), testing::IsEmpty());
}

TEST(Runs, TheCheckKnowsTheRun) {
  Hunt hunt;
  CommandOptions command;
  command.environment = {{"NOTES", hunt.file("notes")}};
  CommandResult result =
      hunt.run({"--chaos=40", "--runs=2", "-q", "-o", hunt.file("t%n.fb"),
                "--check=echo $SVD_RUN $SVD_SEED $SVD_STATUS `cat` >> $NOTES; test -s $SVD_TRACE"},
               {"/bin/sh", "-c", "echo to stdout; echo to stderr >&2; exit 3"}, command);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(read_file(hunt.file("notes")),
            "1 40 3 to stdout to stderr\n2 41 3 to stdout to stderr\n");
}

TEST(Runs, PassingTracesAreKeptOnRequest) {
  Hunt hunt;
  CommandResult result =
      hunt.run({"--runs=4", "--until-failure", "-o", hunt.file("t.fb"), "--keep-passing",
                hunt.file("passing"), "--check=test $SVD_RUN -lt 3"},
               program("nothing"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(hunt.names(), testing::ElementsAre("t.fb"));
  EXPECT_THAT(hunt.names("passing"), testing::ElementsAre("t.1.fb", "t.2.fb"));
}

TEST(Runs, ACrashIsAFailure) {
  Hunt hunt;
  CommandResult result = hunt.run({"--runs=2", "-o", hunt.file("t%n.fb")}, program("crash segv"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("run 2 failed: died of SIGSEGV"), HasSubstr("2 failed")));
  EXPECT_THAT(hunt.names(), testing::ElementsAre("t1.fb", "t2.fb"));
}

TEST(Runs, AHangIsAFailureOnlyPastTheTimeOut) {
  Hunt hunt;
  CommandResult result =
      hunt.run({"--until-failure", "--timeout=1s", "-o", hunt.file("t.fb")}, {"/bin/sleep", "60"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("run 1 failed: it was not done at --timeout"));
  EXPECT_THAT(hunt.names(), testing::ElementsAre("t.fb"));
}

TEST(Runs, EveryRunReadsAllOfItsInput) {
  Hunt hunt;
  CommandResult result = run_command(
      {"/bin/sh", "-c",
       fmt::format("echo input > {0}; {1}/svd-record -q --runs=3 -o {2} --check='test \"`cat`\" = "
                   "input' -- /bin/cat < {0}",
                   hunt.file("input"), SVD_BIN_DIR, hunt.file("t%n.fb"))});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
}

TEST(Runs, ACheckThatCannotRunIsNoFailure) {
  Hunt hunt;
  CommandResult result = hunt.run({"--runs=2", "-o", hunt.file("t%n.fb"), "--check=/no/such/check"},
                                  program("nothing"));
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("the shell cannot run '/no/such/check'"));
}

TEST(Runs, AnInterruptEndsThemAll) {
  Hunt hunt;
  pid_t child = fork();
  if (child == 0) {
    std::string file = hunt.file("t.fb");
    std::vector<std::string> words = program("nothing");
    std::string check = "--check=: > " + hunt.file("began");
    execl(SVD_BIN_DIR "/svd-record", "svd-record", "-q", "--until-failure", "-o", file.c_str(),
          check.c_str(), "--", words[0].c_str(), static_cast<char*>(nullptr));
    _exit(1);
  }
  while (!fs::exists(hunt.file("began")))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  for (const std::string& name : hunt.names()) EXPECT_THAT(name, testing::AnyOf("began", "t.fb"));
}

TEST(Runs, WrongUseIsOneSentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--chaos=often"}, "--chaos: takes a seed, or random, pct"},
      {{"--chaos=1,quantum=0"}, "not '1,quantum=0'"},
      {{"--runs=0"}, "--runs: takes a number such as 100, not '0'"},
      {{"--runs=many"}, "not 'many'"},
      {{"--runs=2", "-o", "t.fb"}, "so -o needs a %n"},
      {{"--check=true"}, "--check needs --runs or --until-failure"},
      {{"--keep-passing=d"}, "--keep-passing needs --runs or --until-failure"},
      {{"--until-failure=3"}, "--until-failure takes no value"},
  };
  Hunt hunt;
  for (const auto& [options, sentence] : cases) {
    CommandResult result = hunt.run(options, program("nothing"));
    EXPECT_EQ(result.exit_code, 2) << sentence;
    EXPECT_THAT(result.err, AllOf(HasSubstr(sentence), testing::EndsWith("\n")));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace svd::test
