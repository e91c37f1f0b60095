// SPDX-License-Identifier: Apache-2.0
//
// What pipes, events and the numbers of descriptors put in order, and what they do not.

#include <gtest/gtest.h>

#include <string>

#include "detectors/races.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

// How many pairs of places race: thread 1 writes sum and makes the calls `before`, thread 2 makes
// the calls `after` and reads it.
std::size_t races(const std::string& before, const std::string& after) {
  std::string text =
      "svd-trace 1\nprocess engine=text\nvar sum 4\nvar T2.a 4\nvar pair 8\n"
      "stmt 1.1 \"sum = 7\"\nstmt 2.1 \"a = sum\"\n"
      "T1 syscall 22 a0=0x900\nT1 kernel write pair 8 data=0300000004000000\n"
      "T1 syscall-result 22 0\nT1 syscall 290\nT1 syscall-result 290 5\n"
      "T1 1.1 w sum=7\n" +
      before + after + "T2 2.1 r sum=7 w T2.a=7\n";
  TempFile file;
  TraceReader trace = assembled(text, file);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  RaceDetector detector("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
  scan.add(detector);
  scan.walk({});
  return detector.findings().size();
}

TEST(Descriptors, WhatIsReadFromAPipeIsAfterItsWrite) {
  std::string write = "T1 syscall 1 a0=4\nT1 syscall-result 1 1\n";
  EXPECT_EQ(races(write, "T2 syscall 0 a0=3\nT2 syscall-result 0 1\n"), 0U);
  EXPECT_EQ(races(write, "T2 syscall 0 a0=3\nT2 syscall-result 0 0\n"), 1U) << "it got nothing";
  EXPECT_EQ(races(write, "T2 syscall 0 a0=5\nT2 syscall-result 0 8\n"), 1U) << "not the pipe";
  EXPECT_EQ(races("", "T2 syscall 0 a0=3\nT2 syscall-result 0 1\n"), 1U) << "nobody wrote";
}

TEST(Descriptors, AnEventIsAfterWhoRaisedIt) {
  std::string write = "T1 syscall 1 a0=5\nT1 syscall-result 1 8\n";
  std::string read = "T2 syscall 0 a0=5\nT2 syscall-result 0 8\n";
  EXPECT_EQ(races(write, read), 0U);
  std::string close = "T1 syscall 3 a0=5\nT1 syscall-result 3 0\n";
  EXPECT_EQ(races(close + write, read), 1U) << "it is another descriptor now";
}

TEST(Descriptors, ANumberIsGivenOutAfterItWasClosed) {
  std::string close = "T1 syscall 3 a0=9\nT1 syscall-result 3 0\n";
  EXPECT_EQ(races(close, "T2 syscall 288 a0=6\nT2 syscall-result 288 9\n"), 0U);
  EXPECT_EQ(races(close, "T2 syscall 288 a0=6\nT2 syscall-result 288 8\n"), 1U);
  EXPECT_EQ(races(close, "T2 syscall 288 a0=6\nT2 syscall-result 288 -11\n"), 1U);
}

}  // namespace
}  // namespace svd::test
