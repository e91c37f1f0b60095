// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze shell: scripts, wrong input, and a person at a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "e2e/analyze.h"
#include "support/small_trace.h"
#include "support/terminal_session.h"

namespace svd::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

CommandResult shell(const std::string& script, const std::string& trace = race_trace()) {
  CommandOptions options;
  options.input = script;
  return analyze({"shell", trace}, options);
}

// What the commands say in the race of e2e/analyze.cc: instruction 0 reads 5, 1 (of T2) reads 5 and
// writes 7, 2 reads 7, writes 9 and dies.
TEST(Shell, LastAndNextWrite) {
  CommandResult result = shell("last-write outcnt\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(HasSubstr("         1  T2  3.09 writer log.c:1331\n"),
                                HasSubstr("outcnt += len\n"), HasSubstr("wrote outcnt = 7\n"),
                                HasSubstr("now at 1; back returns to 2\n")));
  EXPECT_THAT(shell("last-write outcnt\nlast-write outcnt\n").out,
              HasSubstr("nothing in the trace wrote outcnt before 1"));
  EXPECT_THAT(shell("next-write outcnt 0\n").out, HasSubstr("         1  T2"));
  EXPECT_THAT(shell("next-write outcnt 1\n").out, HasSubstr("         2  T1"));
  EXPECT_THAT(shell("next-write outcnt\n").out, HasSubstr("nothing writes outcnt after 2"));
}

TEST(Shell, Value) {
  EXPECT_THAT(shell("value outcnt\n").out,
              AllOf(StartsWith("outcnt = 7 (0x7)\n"), HasSubstr("written at          1  T2")));
  EXPECT_THAT(shell("value outcnt 1\n").out, StartsWith("outcnt = 5 (0x5)\n"));
  EXPECT_THAT(shell("value outcnt+1,2\n").out, StartsWith("outcnt+1 = 0 (0x0)\n"));
  EXPECT_THAT(shell("value 0x99999\n").out, StartsWith("no access in the trace tells"));
}

TEST(Shell, WhoRead) {
  std::string out = shell("who-read outcnt 0\n").out;
  EXPECT_THAT(out, AllOf(HasSubstr("         1  T2"), HasSubstr("outcnt changes at 1\n"),
                         Not(HasSubstr("         2  T1"))));
  EXPECT_THAT(shell("who-read outcnt\n").out, AllOf(HasSubstr("nobody reads outcnt after 2"),
                                                    HasSubstr("does not change any more")));
}

TEST(Shell, Why) {
  std::string out = shell("why\n").out;
  EXPECT_THAT(out, AllOf(HasSubstr("outcnt was written by another thread\n           1  T2"),
                         HasSubstr("it ran because of the decision\n           0  T1  3.05"),
                         HasSubstr("could have come in the other order\n")));
}

TEST(Shell, FindAndPrevious) {
  EXPECT_THAT(shell("find 3.09@1\n").out,
              AllOf(HasSubstr("         1  T2"), HasSubstr("the 1 of 2 executions of 3.09")));
  EXPECT_THAT(shell("find log.c:1331@-1\nprevious log.c:1331\n").out, HasSubstr("now at 1;"));
  EXPECT_THAT(shell("list 0\nfind writer\n").out, HasSubstr("now at 1; back returns to 0"));
  EXPECT_THAT(shell("find wri*\n").out, "  writer\n");
  EXPECT_THAT(shell("find writer\n").err,
              HasSubstr("writer is not executed after 2; it is 3 times, last at 2"));
}

TEST(Shell, ListThreadsAndStack) {
  EXPECT_THAT(shell("list\n").out, AllOf(HasSubstr("=>          2  T1  3.09 writer log.c:1331"),
                                         HasSubstr("T2  mutex-lock L")));
  EXPECT_THAT(shell("list log.c:1331\n").out, HasSubstr("=>  1331           2x"));
  EXPECT_THAT(shell("threads\n").out, AllOf(HasSubstr("* T1 "), HasSubstr("  T2 ")));
  EXPECT_THAT(shell("stack 1\n").out, StartsWith("T2\n#0 "));
}

TEST(Shell, SliceOfTheEndAndOfAnywhere) {
  EXPECT_THAT(shell("slice\n").out, HasSubstr("died of signal 11"));
  EXPECT_THAT(shell("list 1\nslice\n").out, HasSubstr("instruction 1 in T2"));
  EXPECT_THAT(shell("slice seq:1\n").out, HasSubstr("now at 1; back returns to 2"));
}

TEST(Shell, BackReturnsThroughAllThatWasVisited) {
  CommandResult result = shell("list 0\nlist 1\nback\nback\nback\n");
  EXPECT_EQ(result.err, "there is nowhere to go back to\n");
  std::size_t first = result.out.find("         0  T1  3.05");
  EXPECT_NE(result.out.find("         2  T1  3.09", first), std::string::npos);
}

TEST(Shell, WrongInputIsASentenceAndNotTheEnd) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"thraeds", "there is no command 'thraeds' (did you mean 'threads'?); help lists them"},
      {"l", "'l' can be last-write, list"},
      {"last-write", "say last-write ADDR[,SIZE] [SEQ]: which memory, and from when on"},
      {"last-write outcmt", "the trace has no variable 'outcmt' (did you mean 'outcnt'?)"},
      {"last-write outcnt x", "'x' is no number of an instruction"},
      {"value outcnt 99", "instruction 99 is not in the trace, which has 0 to 2"},
      {"why 1 2", "say why [SEQ]: one instruction's number"},
      {"find writr", "no function is called 'writr' (did you mean 'writer'?)"},
      {"find nothing*", "no function that was executed has 'nothing*' in its name"},
      {"find 3.09@7", "3.09 was executed 2 times; @N is from 1 to 2, or from -1 back"},
      {"find pc:zero", "'pc:zero': an address such as 0x401136 must follow"},
      {"list lgo.c:1331", "no source file of the program is called 'lgo.c'"},
      {"value rax", "no value or address in the trace tells what is in rax of T1"},
      {"slice var:outcmt", "no variable of static storage is called 'outcmt'"},
      {"threads all", "threads takes nothing behind it"},
      {"help me", "there is no command 'me'"},
      {"\x1b[31m", "there is no command '\\x1b[31m'"},
  };
  std::string script;
  for (const auto& [line, sentence] : cases) {
    script += line + "\n";
    CommandResult result = shell(line + "\nvalue outcnt\n");
    EXPECT_EQ(result.exit_code, 0) << line;
    EXPECT_THAT(result.out + result.err, HasSubstr(sentence)) << line;
    EXPECT_THAT(result.out, HasSubstr("outcnt = 7")) << line;
  }
}

TEST(Shell, CommandsCanBeShortAndAsInGdb) {
  EXPECT_EQ(shell("th\n").out, shell("threads\n").out);
  EXPECT_EQ(shell("bt\n").out, shell("stack\n").out);
  EXPECT_EQ(shell("print outcnt\n").out, shell("value outcnt\n").out);
  EXPECT_EQ(shell("# a remark\n\nquit\nthreads\n").out, "");
}

TEST(Shell, ADamagedTraceIsAskedAboutAsFarAsItGoes) {
  CommandResult result = shell("threads\nlist 100\n", cut_trace());
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("=>        100"));
}

TEST(Shell, ATraceOfNothingHasNothingToAskAbout) {
  std::string path = race_trace() + ".empty";
  CommandOptions options;
  options.input = "svd-trace 1\nprocess engine=text\n";
  ASSERT_EQ(analyze({"assemble", "-", "-o", path}, options).exit_code, 0);
  for (const char* question : {"why\n", "stack\n", "list\n"}) {
    CommandResult result = shell(question, path);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("the trace has no instructions")) << question;
  }
}

// A person at a terminal. History goes to a folder of the test's own.
class ShellAtATerminal : public testing::Test {
 protected:
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(state_, ignored);
  }
  TerminalSession open(const std::string& no_color = "1", const std::string& term = "xterm") {
    return {{SVD_BIN_DIR "/svd-analyze", "shell", race_trace()},
            {{"XDG_STATE_HOME", state_}, {"NO_COLOR", no_color}, {"TERM", term}}};
  }
  std::string state_ = temp_path("state");
};

constexpr const char* kPrompt = "svd T1 2> ";

TEST_F(ShellAtATerminal, PromptSaysWhereWeAre) {
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("last-write outcnt\r");
  EXPECT_THAT(terminal.until_prompt("svd T2 1> "), HasSubstr("wrote outcnt = 7"));
  terminal.type("back\r");
  terminal.until_prompt(kPrompt);
  terminal.type("\x04");  // Ctrl-D
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_F(ShellAtATerminal, TabCompletesCommandsVariablesAndFunctions) {
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("last\tout\t\r");
  EXPECT_THAT(terminal.until_prompt("svd T2 1> "), HasSubstr("wrote outcnt = 7"));
  terminal.type("find wr\t@1\r");
  EXPECT_THAT(terminal.until_prompt("svd T1 0> "), HasSubstr("the 1 of 3 executions of writer"));
  terminal.type("th\t\r");
  EXPECT_THAT(terminal.until_prompt("svd T1 0> "), HasSubstr("* T1 "));
  // What can go on in more than one way is listed.
  terminal.type("l\t");
  EXPECT_THAT(terminal.until("list"), HasSubstr("last-write"));
}

TEST_F(ShellAtATerminal, AnEmptyLineRepeats) {
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("last-write outcnt\r");
  terminal.until_prompt("svd T2 1> ");
  terminal.type("\r");
  EXPECT_THAT(terminal.until_prompt("svd T2 1> "),
              HasSubstr("nothing in the trace wrote outcnt before 1"));
}

TEST_F(ShellAtATerminal, InterruptGivesUpTheLineOnly) {
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("qui");
  terminal.until("qui");
  // Not between two keys, where it would be late for the line.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  terminal.type("\x03");
  EXPECT_THAT(terminal.until_prompt(kPrompt), HasSubstr(kPrompt));
  terminal.type("quit\r");
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_F(ShellAtATerminal, HistoryIsKeptForTheUserAlone) {
  {
    TerminalSession terminal = open();
    terminal.until_prompt(kPrompt);
    terminal.type("value outcnt 1\r");
    terminal.until("outcnt = 5");
    terminal.type("quit\r");
    EXPECT_EQ(terminal.finish(), 0);
  }
  struct stat status {};
  ASSERT_EQ(stat((state_ + "/svd/history").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("\x10\x10\r");  // Ctrl-P: the one before quit
  EXPECT_THAT(terminal.until("outcnt = 5"), HasSubstr("outcnt = 5"));
}

TEST_F(ShellAtATerminal, WithoutAPlaceForHistoryThereIsNone) {
  write_file(state_, "a file where the folder would be");
  TerminalSession terminal = open();
  terminal.until_prompt(kPrompt);
  terminal.type("quit\r");
  EXPECT_EQ(terminal.finish(), 0);
}

TEST_F(ShellAtATerminal, ColoursUnlessNotWanted) {
  constexpr const char* kBold = "\x1b[1m3.09 writer";
  TerminalSession colourful = open("");
  colourful.until_prompt(kPrompt);
  colourful.type("why\r");
  EXPECT_THAT(colourful.until_prompt(kPrompt), HasSubstr(kBold));
  TerminalSession plain = open("1");
  plain.until_prompt(kPrompt);
  plain.type("why\r");
  EXPECT_THAT(plain.until_prompt(kPrompt), AllOf(HasSubstr("3.09 writer"), Not(HasSubstr(kBold))));
}

}  // namespace
}  // namespace svd::test
