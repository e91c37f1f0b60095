// SPDX-License-Identifier: Apache-2.0
//
// Violations of strict two-phase locking on hand-written traces: the figures of the SVD paper, and
// the kinds of triggers, conflicts and cuts one by one, each with what makes it silent.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "detectors/two_phase.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

enum class Tier { kUpper, kMinor };

// What is found, and the labels of statements by moment.
std::vector<RawFinding> found_in(const std::string& text, std::vector<std::string>& labels) {
  TempFile file;
  TraceReader trace = assembled(text, file);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  TwoPhaseDetector detector("svd-2pl", scan.threads(), lock_sets);
  scan.add(detector);
  labels = {""};
  struct Labels {
    const TraceReader& trace;
    std::vector<std::string>& labels;
    void exec(const Exec& exec) {
      for (std::size_t i = exec.shape->part.first; i < exec.shape->part.end; ++i)
        labels.push_back(trace.statements()[exec.block().statements[i].value].label);
    }
    void event(const Event&) { labels.emplace_back("event"); }
  };
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
    SVD_CHECK(trace.decode(i, chunk));
    chunk.walk(Labels{trace, labels});
    scan.chunk(i, chunk);
  }
  return detector.findings();
}

// Each finding as "first remote second", by the labels of statements.
std::vector<std::string> violations(const std::string& text, Tier tier = Tier::kUpper) {
  std::vector<std::string> found, labels;
  for (const RawFinding& finding : found_in(text, labels)) {
    if (finding.minor != (tier == Tier::kMinor)) continue;
    std::string line;
    for (const RawAccess& access : finding.accesses)
      line += (line.empty() ? "" : " ") + labels[access.moment.value];
    found.push_back(line);
  }
  return found;
}

using Lines = std::vector<std::string>;

constexpr std::string_view kHead =
    "svd-trace 1\nprocess engine=text\nvar x 4\nvar y 4\nvar z 4\nvar out 64\nvar T1.a 4\n"
    "var T2.a 4\nvar m 40\n";

std::string run(std::string_view rest) { return std::string(kHead) + std::string(rest); }

// SVD, Figure 1: table locks of MySQL. Races, but each unit could have run alone.
TEST(TwoPhase, Figure1IsSerializable) {
  std::string text =
      "svd-trace 1\nprocess engine=text\nvar tot_lock 4\nvar T1.register1 4\nvar lock 40\n"
      "stmt 1.03 \"if (lock_type == F_UNLCK)\" at my_lock.c:3 in lock\n"
      "stmt 1.05 \"register1 = info->tot_lock\" at my_lock.c:5 in lock by 1.03\n"
      "stmt 1.06 \"info->tot_lock = register1 + 1\" at my_lock.c:6 in lock by 1.03\n"
      "stmt 1.11 \"info->tot_lock--\" at my_lock.c:11 in unlock\n"
      "stmt 2.03 \"if (info->tot_lock == 0)\" at my_lock.c:3 in update\n"
      "T1 lock lock\n"
      "T1 1.03\n"
      "T1 1.05 r tot_lock=0 w T1.register1=0\n"
      "T1 1.06 r T1.register1=0 w tot_lock=1\n"
      "T1 unlock lock\n"
      "T2 2.03 rc tot_lock=1\n"
      "T1 lock lock\n"
      "T1 1.11 r tot_lock=1 w tot_lock=0\n"
      "T1 unlock lock\n";
  EXPECT_EQ(violations(text), Lines{});
}

// SVD, Figure 2: the log of Apache. When 3.09 writes the index, 4.09 has changed what 3.05 looked
// at. Only len links the two, which follows from nothing shared: here that is minor.
TEST(TwoPhase, Figure2IsFoundAtTheWriteOfTheIndex) {
  std::string text =
      "svd-trace 1\nprocess engine=text\nvar outcnt 4\nvar outbuf 64\nvar T3.len 4\nvar T4.len 4\n"
      "stmt 3.04 \"len = strlen(str)\" at log.c:4 in writer\n"
      "stmt 3.05 \"if (len + buf->outcnt > SIZE)\" at log.c:5 in writer\n"
      "stmt 3.08 \"memcpy(&buf->outbuf[buf->outcnt], str, len)\" at log.c:8 in writer\n"
      "stmt 3.09 \"buf->outcnt += len\" at log.c:9 in writer\n"
      "stmt 4.05 \"if (len + buf->outcnt > SIZE)\" at log.c:5 in writer\n"
      "stmt 4.08 \"memcpy(&buf->outbuf[buf->outcnt], str, len)\" at log.c:8 in writer\n"
      "stmt 4.09 \"buf->outcnt += len\" at log.c:9 in writer\n"
      "T3 3.04 w T3.len=5\n"
      "T3 3.05 rc T3.len=5 rc outcnt=0\n"
      "T3 3.08 ra outcnt=0 r T3.len=5 w outbuf[0..4]=0x6f6c6c6568\n"
      "T4 4.05 rc T4.len=3 rc outcnt=0\n"
      "T4 4.08 ra outcnt=0 r T4.len=3 w outbuf[0..2]=0x657962\n"
      "T4 4.09 r outcnt=0 r T4.len=3 w outcnt=3\n"
      "T3 3.09 r outcnt=3 r T3.len=5 w outcnt=8\n";
  Lines found = violations(text, Tier::kMinor);
  EXPECT_EQ(std::count(found.begin(), found.end(), "3.05 4.09 3.09"), 1);
}

// SVD, Figure 9: a queue. What is filled in does not follow from the head; the place does.
TEST(TwoPhase, Figure9IsFoundThroughTheAddress) {
  std::string rest =
      "stmt 1.1 \"entry = &queue[head]\" at q.c:1 in put\n"
      "stmt 1.2 \"entry->field_a = a\" at q.c:2 in put\n"
      "stmt 1.3 \"head = head + 1\" at q.c:3 in put\n"
      "stmt 2.1 \"entry = &queue[head]\" at q.c:1 in put\n"
      "stmt 2.2 \"entry->field_a = a\" at q.c:2 in put\n"
      "stmt 2.3 \"head = head + 1\" at q.c:3 in put\n"
      "T1 1.1 r x=0 w T1.a=0\n"
      "T2 2.1 r x=0 w T2.a=0\n"
      "T2 2.2 ra T2.a=0 w out[0..3]=7\n"
      "T2 2.3 r T2.a=0 w x=1\n"
      "T1 1.2 ra T1.a=0 w out[0..3]=8\n"
      "T1 1.3 r T1.a=0 w x=1\n";
  Lines found = violations(run(rest));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front(), "1.1 2.3 1.3");
}

constexpr std::string_view kUpdate =
    "stmt 1.1 \"a = x\" at u.c:1 in f\nstmt 1.2 \"x = a + 1\" at u.c:2 in f\n"
    "stmt 2.1 \"x = x + 1\" at u.c:3 in g\n";

// No race: each access has the lock. Between them it was given back.
TEST(TwoPhase, ALostUpdateBetweenTwoCriticalSectionsIsFound) {
  std::string lost = run(kUpdate) +
                     "T1 lock m\nT1 1.1 r x=0 w T1.a=0\n"
                     "T1 unlock m\n"
                     "T2 lock m\nT2 2.1 r x=0 w x=1\n"
                     "T2 unlock m\n"
                     "T1 lock m\nT1 1.2 r T1.a=0 w x=1\n"
                     "T1 unlock m\n";
  EXPECT_EQ(violations(lost), Lines{"1.1 2.1 1.2"});
}

TEST(TwoPhase, AnUpdateInOneCriticalSectionIsSilent) {
  std::string held = run(kUpdate) +
                     "T1 lock m\nT1 1.1 r x=0 w T1.a=0\n"
                     "T1 1.2 r T1.a=0 w x=1\nT1 unlock m\n"
                     "T2 lock m\nT2 2.1 r x=1 w x=2\n"
                     "T2 unlock m\n";
  EXPECT_EQ(violations(held), Lines{});
  EXPECT_EQ(violations(held, Tier::kMinor), Lines{});
}

// The second critical section looks again before it writes.
TEST(TwoPhase, WhatIsReadAgainBeforeItIsWrittenIsNoLostUpdate) {
  std::string text =
      run("stmt 1.1 \"a = x\" at u.c:1 in f\nstmt 1.2 \"y = x\" at u.c:2 in f\n"
          "stmt 1.3 \"x = a\" at u.c:3 in f\nstmt 2.1 \"x = 5\" at u.c:4 in g\n"
          "T1 lock m\nT1 1.1 r x=0 w T1.a=0\n"
          "T1 unlock m\n"
          "T2 lock m\nT2 2.1 w x=5\nT2 unlock m\n"
          "T1 lock m\nT1 1.2 r x=5 w y=5\nT1 1.3 r T1.a=0 w x=0\n"
          "T1 unlock m\n");
  EXPECT_EQ(violations(text), Lines{});
  Lines minor = violations(text, Tier::kMinor);
  EXPECT_EQ(minor, Lines{"1.1 2.1 1.2"});
}

// A sum that both values go into makes one unit of them; what is written to x is made of the new
// one all the same, which nobody can have changed while the lock is held.
TEST(TwoPhase, WhatIsReadAgainUnderTheLockIsNoLostUpdateOfALargeUnit) {
  auto text = [](std::string_view lock, std::string_view unlock) {
    return run("var T1.b 4\n"
               "stmt 1.1 \"a = x\" at u.c:1 in f\nstmt 1.2 \"b = x\" at u.c:2 in f\n"
               "stmt 1.3 \"y = a + b\" at u.c:3 in f\nstmt 1.4 \"x = b\" at u.c:4 in f\n"
               "stmt 2.1 \"x = 5\" at u.c:5 in g\nstmt 2.2 \"look(y)\" at u.c:6 in g\n"
               "T2 2.2 r y=0\nT1 lock m\nT1 1.1 r x=0 w T1.a=0\nT1 unlock m\n"
               "T2 lock m\nT2 2.1 w x=5\nT2 unlock m\n") +
           std::string(lock) + "T1 1.2 r x=5 w T1.b=5\nT1 1.3 r T1.a=0 r T1.b=5 w y=5\n" +
           "T1 1.4 r T1.b=5 w x=5\n" + std::string(unlock);
  };
  EXPECT_EQ(violations(text("T1 lock m\n", "T1 unlock m\n")), Lines{});
  EXPECT_EQ(violations(text("", "")), Lines{"1.1 2.1 1.4"});
}

// if (x) use(x): the second read is made because of the first.
TEST(TwoPhase, ACheckBeforeAUseIsATrigger) {
  std::string statements =
      "stmt 1.1 \"if (x)\" at u.c:1 in f\nstmt 1.2 \"use(x)\" at u.c:2 in f by 1.1\n"
      "stmt 1.3 \"look(x)\" at u.c:3 in f\nstmt 2.1 \"x = 0\" at u.c:4 in g\n";
  EXPECT_EQ(violations(run(statements) + "T1 1.1 rc x=1\nT2 2.1 w x=0\nT1 1.2 r x=0\n"),
            Lines{"1.1 2.1 1.2"});
  // A read that would have been made anyway is a weak hint.
  std::string plain = run(statements) + "T1 1.1 rc x=1\nT2 2.1 w x=0\nT1 1.3 r x=0\n";
  EXPECT_EQ(violations(plain), Lines{});
  EXPECT_EQ(violations(plain, Tier::kMinor), Lines{"1.1 2.1 1.3"});
}

// Of the accesses of a statement it is the one whose address follows from the unit.
TEST(TwoPhase, AUseThroughAnAddressIsThatAccess) {
  std::string text =
      run("var T1.b 4\nvar T1.arr 16\nstmt 1.1 \"b = x\" at u.c:1 in f\n"
          "stmt 1.2 \"c = arr[b]\" at u.c:2 in f\nstmt 2.1 \"x = 1\" at u.c:3 in g\n"
          "T1 1.1 r x=0 w T1.b=0\nT2 2.1 w x=1\nT1 1.2 ra T1.b=0 r T1.arr[0..3]=0 w T1.a=0\n");
  std::vector<std::string> labels;
  std::vector<RawFinding> found = found_in(text, labels);
  ASSERT_EQ(found.size(), 1U);
  const RawAccess& use = found[0].accesses.back();
  EXPECT_EQ(labels[use.moment.value], "1.2");
  EXPECT_EQ(use.kind, TouchKind::kRead);
  EXPECT_EQ(use.size, 4U);
}

TEST(TwoPhase, PollingIsSilent) {
  EXPECT_EQ(violations(run("stmt 1.1 \"while (!x)\" at u.c:1 in f by 1.1\n"
                           "stmt 2.1 \"x = 1\" at u.c:2 in g\n"
                           "T1 1.1 rc x=0\nT1 1.1 rc x=0\nT2 2.1 w x=1\nT1 1.1 rc x=1\n")),
            Lines{});
}

// Who waits for the other does not go on with what it had read.
TEST(TwoPhase, UnitsEndWhereTheirThreadWaits) {
  for (std::string wait :
       {"T1 barrier-wait m\n", "T1 syscall 7\n", "T1 cond-wait m phase=begin second=y\n"}) {
    std::string text = run(kUpdate) + "T1 1.1 r x=0 w T1.a=0\n" + wait +
                       "T2 2.1 r x=0 w x=1\nT1 1.2 r T1.a=0 w x=1\n";
    EXPECT_EQ(violations(text), Lines{}) << wait;
  }
}

TEST(TwoPhase, WhatIsOrderedIsNoConflict) {
  std::string text = run(kUpdate) +
                     "T1 1.1 r x=0 w T1.a=0\nT1 sem-post m\n"
                     "T2 sem-wait m\nT2 2.1 r x=0 w x=1\n"
                     "T1 1.2 r T1.a=0 w x=1\n";
  EXPECT_EQ(violations(text), Lines{});
}

// Two constants are stored, and nothing links them.
TEST(TwoPhase, AReadBetweenTwoWritesIsMinor) {
  std::string text =
      run("stmt 1.1 \"x = 0\" at u.c:1 in f\nstmt 1.2 \"x = 1\" at u.c:2 in f\n"
          "stmt 2.1 \"y = x\" at u.c:3 in g\n"
          "T1 1.1 w x=0\nT2 2.1 r x=0 w y=0\nT1 1.2 w x=1\n");
  EXPECT_EQ(violations(text), Lines{});
  EXPECT_EQ(violations(text, Tier::kMinor), Lines{"1.1 2.1 1.2"});
}

// The memory is another object's when it is allocated again.
TEST(TwoPhase, SharingIsByLifetime) {
  std::string text = run(kUpdate) +
                     "T1 1.1 r x=0 w T1.a=0\n"
                     "T2 alloc x 4\n"
                     "T2 2.1 r x=0 w x=1\n"
                     "T1 alloc x 4\n"
                     "T1 1.2 r T1.a=0 w x=1\n";
  EXPECT_EQ(violations(text), Lines{});
}

}  // namespace
}  // namespace svd::test
