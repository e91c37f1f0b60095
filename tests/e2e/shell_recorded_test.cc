// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze shell on a recorded program: names, lines and values are those of its source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/record.h"

namespace svd::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string ask(const Recording& recording, const std::string& script) {
  CommandOptions options;
  options.input = script;
  CommandResult result =
      run_command({SVD_BIN_DIR "/svd-analyze", "shell", recording.path()}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

// Two threads add 1 to a counter under a lock, 20 times each.
class RecordedShell : public testing::Test {
 protected:
  RecordedShell() : recording_(program("lost_update locked 20")) {}
  Recording recording_;
};

TEST_F(RecordedShell, TheLastWriteIsTheLastAddition) {
  std::string out = ask(recording_, "last-write counter\nvalue counter\nwhy\n");
  EXPECT_THAT(out, AllOf(HasSubstr("add_one lost_update.c:"), HasSubstr("counter = counter + 1;"),
                         HasSubstr("wrote counter = 40"), HasSubstr("counter = 39 (0x27)")));
}

TEST_F(RecordedShell, EveryWriteIsMetOnTheWayBack) {
  std::string script;
  for (int i = 0; i < 41; ++i) script += "last-write counter\n";
  std::string out = ask(recording_, script);
  std::size_t at = 0;
  for (int value = 40; value > 0; --value) {
    at = out.find("wrote counter = " + std::to_string(value) + "\n", at);
    ASSERT_NE(at, std::string::npos) << value;
  }
  EXPECT_THAT(out.substr(at), HasSubstr("became new"));
}

TEST_F(RecordedShell, FindCountsAndStackNamesCallers) {
  EXPECT_THAT(ask(recording_, "find add_one@3\nstack\n"),
              AllOf(HasSubstr("the 3 of 40 executions of add_one()"), HasSubstr("#0   add_one"),
                    HasSubstr("work  lost_update.c:"), HasSubstr("started by T1")));
  EXPECT_THAT(ask(recording_, "find add_*\n"), HasSubstr("add_one"));
}

TEST(RecordedAbort, ItsStackHasTheCallInTheProgram) {
  Recording recording(program("crash abort"));
  EXPECT_THAT(
      ask(recording, "stack\n"),
      AllOf(HasSubstr(" abort  "), HasSubstr(" abort_it  crash.c:"), HasSubstr(" main  crash.c:")));
}

// The kernel's write when the thread ended is no write of the variable that the thread wrote last.
TEST(RecordedCrash, WhatTheKernelWroteIsNotCalledAsTheSourceCallsTheInstructions) {
  Recording recording(program("crash thread-bus"));
  EXPECT_THAT(ask(recording, "why\n"),
              AllOf(HasSubstr("wrote *memory [0x"), HasSubstr("in the other order\n  [0x")));
}

TEST_F(RecordedShell, RegistersAtAKnownPlace) {
  // The first argument of main is how many words there are.
  EXPECT_THAT(ask(recording_, "find main@1\nvalue rdi\nvalue rsp\n"),
              AllOf(HasSubstr("rdi of T1"), HasSubstr(" = 3"), HasSubstr("rsp of T1")));
}

TEST_F(RecordedShell, ListShowsTheSourceAndHowOftenItRan) {
  EXPECT_THAT(ask(recording_, "list lost_update.c:20\n"), HasSubstr("static void add_one(void) {"));
  EXPECT_THAT(ask(recording_, "find add_one@1\nlist\n"), HasSubstr("=> "));
}

}  // namespace
}  // namespace svd::test
