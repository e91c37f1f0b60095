// SPDX-License-Identifier: Apache-2.0
//
// A part of a run: --start-at and --stop-at. What is outside is not in the trace, the trace says
// so, and it is sound.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "record.h"

namespace svd::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Which of the functions of tests/programs/phases.c were executed: "before target after".
std::string executed(Recording& recording) {
  std::istringstream addresses(recording.result().out);
  std::vector<Pc> entries(3);
  for (Pc& entry : entries) addresses >> std::hex >> std::setbase(16) >> entry.value;
  std::vector<bool> seen(entries.size());
  Diagnostics diagnostics;
  recording.trace().scan(TraceReader::Order::kForward,
                         Columns{.addresses = false, .values = false, .events = kNoEvents},
                         diagnostics, [&](const Chunk& chunk) {
                           for (const Shape& shape : chunk.shapes) {
                             for (std::size_t i = shape.part.first; i < shape.part.end; ++i) {
                               for (std::size_t f = 0; f < entries.size(); ++f)
                                 seen[f] = seen[f] || shape.block->instructions[i].pc == entries[f];
                             }
                           }
                           return true;
                         });
  std::string text;
  for (std::size_t f = 0; f < entries.size(); ++f) {
    static constexpr std::string_view kNames[] = {"before", "target", "after"};
    if (seen[f]) text += std::string(text.empty() ? "" : " ") + std::string(kNames[f]);
  }
  return text;
}

std::string info(const Recording& recording) {
  return run_command({SVD_BIN_DIR "/svd-analyze", "info", recording.path()}).out;
}

TEST(RecordWindow, WithoutOneEverythingIsThere) {
  Recording run(program("phases"));
  EXPECT_EQ(executed(run), "before target after");
  EXPECT_THAT(info(run), Not(HasSubstr("window")));
}

TEST(RecordInfo, TellsTheRecordersModulesFromThoseOfTheProgram) {
  Recording run(program("nothing"));
  std::istringstream lines(info(run));
  std::vector<std::string> of_the_recorder;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(", the recorder's"))
      of_the_recorder.push_back(
          line.substr(line.rfind('/') + 1, line.find(',') - line.rfind('/') - 1));
  }
  EXPECT_THAT(of_the_recorder,
              testing::UnorderedElementsAre("svd-amd64-linux", "vgpreload_core-amd64-linux.so",
                                            "vgpreload_svd-amd64-linux.so"));
}

TEST(RecordWindow, FromOneFunctionToAnother) {
  Recording run(program("phases"), {"--start-at=target", "--stop-at=after"});
  EXPECT_EQ(ending(run.result()), "exit 7");
  EXPECT_EQ(executed(run), "target");
  EXPECT_EQ(unsound(run.path()), "");
  EXPECT_EQ(ending(run.trace()), "exit 7");
  EXPECT_FALSE(run.trace().ending().thread) << "it ended outside of the window";
  EXPECT_GT(run.trace().steps(), 1000U);
  EXPECT_LT(run.trace().steps(), 100'000U);
  EXPECT_THAT(info(run), testing::AllOf(HasSubstr("recorded from --start-at=target on"),
                                        HasSubstr("recorded up to --stop-at=after")));
}

TEST(RecordWindow, WhatIsAliveAtItsBeginningIsKnown) {
  Recording run(program("phases"), {"--start-at=after"});
  EXPECT_EQ(executed(run), "after");
  EXPECT_EQ(unsound(run.path()), "");
  ASSERT_EQ(run.trace().threads().size(), 2U);
  const ThreadInfo& helper = run.trace().threads()[1];
  EXPECT_EQ(helper.name, "helper");
  EXPECT_EQ(helper.parent, ThreadId(1));
  EXPECT_GT(helper.steps, 0U);
  EXPECT_TRUE(run.trace().ending().thread);
  EXPECT_THAT(run.trace().modules(),
              testing::Contains(testing::Field(&Module::path, testing::EndsWith("/libc.so.6"))));
}

TEST(RecordWindow, TheSameFunctionTwiceIsFromOneCallToTheNext) {
  Recording run(program("phases"), {"--start-at=before", "--stop-at=before"});
  EXPECT_EQ(executed(run), "before target after") << "there is no second call";
  EXPECT_EQ(unsound(run.path()), "");
}

TEST(RecordWindow, ACrashInsideIsTheEnd) {
  Recording run(program("phases crash"), {"--start-at=target"});
  EXPECT_EQ(ending(run.result()), "signal 11");
  EXPECT_EQ(executed(run), "target");
  EXPECT_EQ(unsound(run.path()), "");
  EXPECT_EQ(ending(run.trace()), "signal 11");
  EXPECT_EQ(run.trace().ending().thread, ThreadId(1));
}

TEST(RecordWindow, ACrashOutsideIsTold) {
  Recording run(program("phases crash"), {"--stop-at=target"});
  EXPECT_EQ(executed(run), "before");
  EXPECT_EQ(unsound(run.path()), "");
  EXPECT_EQ(ending(run.trace()), "signal 11");
  EXPECT_FALSE(run.trace().ending().thread);
}

TEST(RecordWindow, SignalsOpenAndCloseItAndReachTheProgram) {
  Recording run(program("phases signals"), {"--start-at=SIGUSR1", "--stop-at=SIGUSR2"});
  EXPECT_EQ(ending(run.result()), "exit 7");
  EXPECT_EQ(executed(run), "target");
  EXPECT_EQ(unsound(run.path()), "");
}

TEST(RecordWindow, ASignalForTheRecorderAloneDoesNotKill) {
  Recording run(program("phases bare"), {"--start-at=SIGUSR1", "--stop-at=SIGUSR2"});
  EXPECT_EQ(ending(run.result()), "exit 7");
  EXPECT_EQ(executed(run), "target");
}

TEST(RecordWindow, AfterATimeWithoutSystemCalls) {
  Recording run(program("phases spin"), {"--start-at=+2s", "--no-values"});
  EXPECT_EQ(executed(run), "target after");
  EXPECT_EQ(unsound(run.path()), "");
}

TEST(RecordWindow, UntilATimeWithoutSystemCalls) {
  Recording run(program("phases spin"), {"--stop-at=+2s", "--no-values"});
  EXPECT_THAT(executed(run), Not(HasSubstr("target")));
  EXPECT_GT(run.trace().steps(), 0U);
  EXPECT_EQ(unsound(run.path()), "");
}

TEST(RecordWindow, OneThatNeverBeginsIsTold) {
  Recording run(program("phases"), {"--start-at=no_such_function"});
  EXPECT_EQ(ending(run.result()), "exit 7");
  EXPECT_THAT(run.result().err, HasSubstr("--start-at=no_such_function never came"));
  EXPECT_EQ(run.trace().steps(), 0U);
  EXPECT_EQ(ending(run.trace()), "exit 7");
  EXPECT_EQ(unsound(run.path()), "");
}

TEST(RecordWindow, WrongUseIsOneSentence) {
  for (const char* what : {"+", "+0s", "+1h", "SIGNOPE", "SIG", "7", "/bin/x"}) {
    Recording run(program("nothing"), {std::string("--stop-at=") + what});
    EXPECT_EQ(run.result().exit_code, 2) << what;
    EXPECT_THAT(run.result().err, HasSubstr("--stop-at: takes a function, a time such as +30s or a "
                                            "signal such as SIGUSR1, not '" +
                                            std::string(what) + "'"));
  }
}

}  // namespace
}  // namespace svd::test
