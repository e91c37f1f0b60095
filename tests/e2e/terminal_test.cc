// SPDX-License-Identifier: Apache-2.0
//
// Colour and progress: there for people in front of a terminal, absent everywhere else.

#include "common/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/analyze.h"

namespace svd::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Color, OnATerminalOnly) {
  CommandOptions terminal;
  terminal.terminal = true;
  terminal.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  EXPECT_THAT(analyze({"info", race_trace()}, terminal).out, HasSubstr("\x1b["));
  EXPECT_THAT(analyze({"info", race_trace()}).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(analyze({"info", "--color=always", race_trace()}).out, HasSubstr("\x1b["));
  EXPECT_THAT(analyze({"info", "--color=never", race_trace()}, terminal).out,
              Not(HasSubstr("\x1b[")));
  terminal.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  EXPECT_THAT(analyze({"info", race_trace()}, terminal).out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(analyze({"info", "--color=always", race_trace()}, terminal).out, HasSubstr("\x1b["));
  terminal.environment = {{"TERM", "dumb"}, {"NO_COLOR", ""}};
  EXPECT_THAT(analyze({"info", race_trace()}, terminal).out, Not(HasSubstr("\x1b[")));
}

TEST(Color, NeverInData) {
  EXPECT_THAT(analyze({"info", "--json", "--color=always", race_trace()}).out,
              Not(HasSubstr("\x1b[")));
  EXPECT_THAT(analyze({"dump", "--json", "--color=always", race_trace()}).out,
              Not(HasSubstr("\x1b[")));
  EXPECT_THAT(analyze({"dump", "--text", "--color=always", race_trace()}).out,
              Not(HasSubstr("\x1b[")));
}

TEST(Progress, NothingWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    cli::Progress progress("reading", "instr", 10, false);
    for (std::uint64_t i = 0; i < 10; ++i) progress.at(i);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(analyze({"verify", example_trace()}).err, "");
}

TEST(Progress, NothingThatIsShort) {
  CommandOptions terminal;
  terminal.terminal = true;
  EXPECT_THAT(analyze({"verify", race_trace()}, terminal).out, Not(HasSubstr("left")));
}

TEST(Progress, SaysRateAndTimeLeft) {
  EXPECT_EQ(cli::progress_line("reading", "instr", 50'000'000, 200'000'000, 2.0),
            "reading  25 %  25.0 Minstr/s  6 s left");
  EXPECT_EQ(cli::progress_line("reading", "instr", 1'000'000, 1'000'000'000, 2.0),
            "reading  0 %  0.5 Minstr/s  33 min left");
  EXPECT_EQ(cli::progress_line("reading", "instr", 3'000'000, 0, 2.0),
            "reading  3.0 Minstr  1.5 Minstr/s");
}

TEST(Numbers, AreReadable) {
  EXPECT_EQ(cli::grouped(0), "0");
  EXPECT_EQ(cli::grouped(999), "999");
  EXPECT_EQ(cli::grouped(1'234'567), "1,234,567");
  EXPECT_EQ(cli::human_bytes(999), "999 bytes");
  EXPECT_EQ(cli::human_bytes(1'500), "1.5 kB");
  EXPECT_EQ(cli::human_bytes(3'000'000'000), "3.0 GB");
}

}  // namespace
}  // namespace svd::test
