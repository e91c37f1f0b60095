// SPDX-License-Identifier: Apache-2.0
//
// Loops that wait for another thread, as synchronisation: what they order, and what keeps a loop
// from being one.

#include <gtest/gtest.h>

#include <string>

#include "detectors/races.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

// How many pairs of places race.
std::size_t races(const std::string& text, bool find_waits) {
  TempFile file;
  TraceReader trace = assembled(text, file);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  if (find_waits) scan.find_waits();
  RaceDetector detector("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
  scan.add(detector);
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
    SVD_CHECK(trace.decode(i, chunk));
    scan.chunk(i, chunk);
  }
  return detector.findings().size();
}

constexpr std::string_view kHead =
    "svd-trace 1\nprocess engine=text\nvar flag 4\nvar sum 4\nvar T2.a 4\n"
    "stmt 1.1 \"sum = 7\" at w.c:1 in f\nstmt 1.2 \"flag = 1\" at w.c:2 in f\n"
    "stmt 2.2 \"a = sum\" at w.c:4 in g\n";
constexpr std::string_view kLoop = "stmt 2.1 \"while (!flag)\" at w.c:3 in g by 2.1\n";
constexpr std::string_view kRounds =
    "T1 1.1 w sum=7\nT2 2.1 rc flag=0\nT2 2.1 rc flag=0\nT1 1.2 w flag=1\nT2 2.1 rc flag=1\n"
    "T2 2.2 r sum=7 w T2.a=7\n";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

// AVIO, Figure 2: a flag, and what it guards.
TEST(Waits, AFlagOrdersWhatItGuards) {
  std::string text = join({kHead, kLoop, kRounds});
  EXPECT_EQ(races(text, false), 2U);
  EXPECT_EQ(races(text, true), 0U);
}

// The flag was set before anybody looked.
TEST(Waits, ALoopThatEndsAtOnceWaitsToo) {
  std::string text = join({kHead, kLoop,
                           "T1 1.1 w sum=7\nT1 1.2 w flag=1\nT2 2.1 rc flag=1\n"
                           "T2 2.2 r sum=7 w T2.a=7\n"});
  EXPECT_EQ(races(text, true), 0U);
}

TEST(Waits, WhatIsReadBeforeTheFlagIsNotOrdered) {
  std::string text = join({kHead, kLoop,
                           "T2 2.2 r sum=0 w T2.a=0\nT1 1.1 w sum=7\nT1 1.2 w flag=1\n"
                           "T2 2.1 rc flag=1\n"});
  EXPECT_EQ(races(text, true), 1U);
}

TEST(Waits, AnIfIsNoLoop) {
  std::string text = join({kHead, "stmt 2.1 \"if (!flag)\" at w.c:3 in g\n", kRounds});
  EXPECT_EQ(races(text, true), 2U);
}

TEST(Waits, ALoopThatStoresDoesNotOnlyWait) {
  std::string text = join({kHead, "var n 4\n", kLoop,
                           "T1 1.1 w sum=7\nT2 2.1 rc flag=0 w n=1\nT1 1.2 w flag=1\n"
                           "T2 2.1 rc flag=1 w n=2\nT2 2.2 r sum=7 w T2.a=7\n"});
  EXPECT_EQ(races(text, true), 2U);
}

TEST(Waits, ALoopWithABodyDoesNotOnlyWait) {
  std::string text = join({kHead, kLoop, "stmt 2.3 \"work()\" at w.c:5 in g by 2.1\n", kRounds});
  EXPECT_EQ(races(text, true), 2U);
}

}  // namespace
}  // namespace svd::test
