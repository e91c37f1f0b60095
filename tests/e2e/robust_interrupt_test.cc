// SPDX-License-Identifier: Apache-2.0
//
// What happens to a recording from outside: signals from a person or a supervisor, the death of the
// recorder, the death of the program, and a person who types.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "e2e/record.h"
#include "support/small_trace.h"
#include "support/trace_checker.h"

namespace svd::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(60);

// svd-record in the background, in a session and process group of its own, on a terminal: what a
// person at a terminal, or a supervisor, has in front of him. Unless the terminal is `controlling`,
// the recorder's death, which leads the session, does not hang it up.
class Background {
 public:
  explicit Background(const std::string& command, bool controlling = true)
      : path_(temp_path("background.fb")) {
    std::vector<std::string> words{SVD_BIN_DIR "/svd-record", "-o", path_, "--"};
    for (const std::string& word : program(command)) words.push_back(word);
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    SVD_CHECK(terminal_ >= 0 && grantpt(terminal_) == 0 && unlockpt(terminal_) == 0);
    std::string name = ptsname(terminal_);
    pid_ = fork();
    SVD_CHECK(pid_ >= 0);
    if (pid_ == 0) become(words, name, controlling);
  }

  ~Background() {
    kill(-pid_, SIGKILL);
    if (!waited_) waitpid(pid_, nullptr, 0);
    close(terminal_);
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  pid_t recorder() const { return pid_; }
  const std::string& path() const { return path_; }
  const std::string& output() const { return output_; }

  // The process under the recorder, which is the program inside Valgrind.
  pid_t program_pid() const {
    std::string children = read_file(fmt::format("/proc/{0}/task/{0}/children", pid_));
    return static_cast<pid_t>(std::strtol(children.c_str(), nullptr, 10));
  }

  void type(const std::string& text) const {
    SVD_CHECK(write(terminal_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  // Reads until the output has `text`.
  bool says(const std::string& text) {
    auto deadline = steady_clock::now() + kPatience;
    while (output_.find(text) == std::string::npos) {
      if (steady_clock::now() > deadline) return false;
      pollfd end{terminal_, POLLIN, 0};
      std::array<char, 4096> buffer;
      if (poll(&end, 1, 100) <= 0) continue;
      ssize_t count = read(terminal_, buffer.data(), buffer.size());
      if (count <= 0) return false;  // nobody has the terminal open any more
      output_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }

  // Waits for the recorder's end.
  CommandResult wait() {
    CommandResult result;
    auto deadline = steady_clock::now() + kPatience;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (steady_clock::now() > deadline) return result;
      pollfd end{terminal_, POLLIN, 0};
      std::array<char, 4096> buffer;
      if (poll(&end, 1, 10) > 0) {
        ssize_t count = read(terminal_, buffer.data(), buffer.size());
        if (count > 0) output_.append(buffer.data(), static_cast<std::size_t>(count));
      }
    }
    waited_ = true;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
  }

 private:
  [[noreturn]] static void become(const std::vector<std::string>& words, const std::string& name,
                                  bool controlling) {
    setsid();
    int terminal = open(name.c_str(), O_RDWR | O_NOCTTY);
    if (controlling) ioctl(terminal, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; ++fd) dup2(terminal, fd);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  std::string path_;
  std::string output_;
  int terminal_ = -1;
  pid_t pid_ = -1;
  bool waited_ = false;
};

void expect_whole_trace(const std::string& path, const std::string& end) {
  EXPECT_EQ(unsound(path), "");
  auto trace = TraceReader::open(path);
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_TRUE(trace->complete()) << complaints(*trace);
  EXPECT_EQ(ending(*trace), end);
  EXPECT_EQ(check_trace(*trace).illegal_transitions, 0U);
}

TEST(Interrupt, ControlCReachesTheProgramWhichEndsAsItLikes) {
  Background run("interruptible");
  ASSERT_TRUE(run.says("ready")) << run.output();
  run.type("\x03");
  EXPECT_EQ(ending(run.wait()), "exit 2");
  EXPECT_THAT(run.output(), HasSubstr("received 2\r\n"));
  expect_whole_trace(run.path(), "exit 2");
}

TEST(Interrupt, SigtermToTheRecorderIsPassedOn) {
  Background run("interruptible");
  ASSERT_TRUE(run.says("ready")) << run.output();
  kill(run.recorder(), SIGTERM);
  EXPECT_EQ(ending(run.wait()), "exit 15");
  EXPECT_THAT(run.output(), HasSubstr("received 15\r\n"));
  expect_whole_trace(run.path(), "exit 15");
}

TEST(Interrupt, AProgramThatDoesNotHandleItDiesOfIt) {
  for (int number : {SIGINT, SIGTERM}) {
    Background run("interruptible default");
    ASSERT_TRUE(run.says("ready")) << run.output();
    kill(run.recorder(), number);
    EXPECT_EQ(ending(run.wait()), fmt::format("signal {}", number));
    expect_whole_trace(run.path(), fmt::format("signal {}", number));
  }
}

TEST(Kill, TheProgramGoesOnWhenTheRecorderDies) {
  Background run("interruptible", false);
  ASSERT_TRUE(run.says("ready")) << run.output();
  pid_t program_pid = run.program_pid();
  ASSERT_GT(program_pid, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(run.recorder(), SIGKILL);
  EXPECT_EQ(ending(run.wait()), "signal 9");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(kill(program_pid, SIGTERM), 0) << "it lives";
  EXPECT_TRUE(run.says("received 15")) << run.output();
  CommandResult verified = run_command({SVD_BIN_DIR "/svd-analyze", "verify", run.path()});
  EXPECT_EQ(verified.exit_code, 4) << verified.out << verified.err;
}

TEST(Kill, TheTraceSaysThatTheProgramWasKilled) {
  Background run("interruptible");
  ASSERT_TRUE(run.says("ready")) << run.output();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(run.program_pid(), SIGKILL);
  EXPECT_EQ(ending(run.wait()), "signal 9");
  auto trace = TraceReader::open(run.path());
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_GT(trace->steps(), 0U);
  EXPECT_EQ(ending(*trace), "signal 9");
  EXPECT_EQ(check_trace(*trace).illegal_transitions, 0U);
}

TEST(Terminal, APersonCanTalkToTheProgram) {
  Background run("terminal");
  ASSERT_TRUE(run.says("name? ")) << run.output();
  run.type("Ada\n");
  EXPECT_TRUE(run.says("hello Ada")) << run.output();
  EXPECT_EQ(ending(run.wait()), "exit 0");
  expect_whole_trace(run.path(), "exit 0");
}

}  // namespace
}  // namespace svd::test
