// SPDX-License-Identifier: Apache-2.0
//
// What is done once is before all that comes after it, whoever of several callers did it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

// Instructions that race with an earlier one, from 0.
std::vector<Seq> raced(const std::string& events) {
  TempFile file;
  std::string head =
      "svd-trace 1\nprocess engine=text\nvar x 4\nvar o 4\nstmt 1 \"\"\nstmt 2 \"\"\n";
  return DetectorRun(assembled(head + events, file)).raced();
}

TEST(Once, WhoFindsItDoneComesAfterWhoDidIt) {
  EXPECT_THAT(raced("T1 once o phase=begin\n"
                    "T1 1 w x=1\n"
                    "T1 once o phase=end\n"
                    "T2 once o phase=begin\n"
                    "T2 once o phase=end\n"
                    "T2 2 r x=1\n"),
              testing::IsEmpty());
}

// The first to call need not be the one that does it, nor that one the first to come back.
TEST(Once, AnyOfTheFirstCallersCanHaveDoneIt) {
  EXPECT_THAT(raced("T1 once o phase=begin\n"
                    "T2 once o phase=begin\n"
                    "T2 1 w x=1\n"
                    "T1 once o phase=end\n"
                    "T1 2 r x=1\n"
                    "T3 once o phase=begin\n"
                    "T3 once o phase=end\n"
                    "T3 2 r x=1\n"
                    "T2 once o phase=end\n"),
              testing::IsEmpty());
}

TEST(Once, WhatItsDoerDoesLaterIsNotOrdered) {
  EXPECT_THAT(raced("T1 once o phase=begin\n"
                    "T1 once o phase=end\n"
                    "T1 1 w x=1\n"
                    "T2 once o phase=begin\n"
                    "T2 once o phase=end\n"
                    "T2 2 r x=1\n"),
              testing::ElementsAre(Seq(1)));
}

TEST(Once, WhatLiesWhereAnotherWasDoneIsNotDone) {
  EXPECT_THAT(raced("T1 alloc o 4\n"
                    "T1 once o phase=begin\n"
                    "T1 once o phase=end\n"
                    "T1 free o\n"
                    "T1 alloc o 4\n"
                    "T1 once o phase=begin\n"
                    "T1 1 w x=1\n"
                    "T1 once o phase=end\n"
                    "T2 once o phase=begin\n"
                    "T2 once o phase=end\n"
                    "T2 2 r x=1\n"),
              testing::IsEmpty());
}

}  // namespace
}  // namespace svd::test
