// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder: --last keeps the newest part of a run, and what holds where it begins.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "record.h"
#include "support/trace_checker.h"

namespace svd::test {
namespace {

using testing::HasSubstr;

// All events of kind T.
template <class T>
std::vector<std::pair<ThreadId, T>> events(const TraceReader& trace) {
  std::vector<std::pair<ThreadId, T>> list;
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, Columns{.addresses = false, .values = false},
             diagnostics, [&](const Chunk& chunk) {
               for (const Event& event : chunk.events) {
                 if (const auto* body = std::get_if<T>(&event.body))
                   list.emplace_back(event.thread, *body);
               }
               return true;
             });
  return list;
}

// What ends without that its beginning is known: an allocation, a lock that is held, a system call.
std::string without_beginning(const TraceReader& trace) {
  std::set<std::uint64_t> allocated;
  std::map<std::pair<ThreadId, std::uint64_t>, int> held;
  std::set<ThreadId> in_system;
  std::set<std::string> found;
  auto take = [&](const Event& event) {
    if (const auto* allocation = std::get_if<Allocation>(&event.body)) {
      allocated.insert(allocation->address.value);
    } else if (const auto* release = std::get_if<Release>(&event.body)) {
      if (allocated.erase(release->address.value) == 0) found.insert("free");
    } else if (std::holds_alternative<SyscallEnter>(event.body)) {
      in_system.insert(event.thread);
    } else if (std::holds_alternative<SyscallExit>(event.body)) {
      if (in_system.erase(event.thread) == 0) found.insert("system call");
    } else if (const auto* sync = std::get_if<Sync>(&event.body)) {
      int& count = held[{event.thread, sync->object.value}];
      bool done = sync->phase != Phase::kBegin && sync->result == 0;
      if (sync->op == SyncOp::kMutexLock && done) ++count;
      if (sync->op == SyncOp::kMutexUnlock && done && --count < 0) found.insert("unlock");
    }
  };
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, Columns{.addresses = false, .values = false},
             diagnostics, [&](const Chunk& chunk) {
               std::for_each(chunk.events.begin(), chunk.events.end(), take);
               return true;
             });
  std::string text;
  for (const std::string& what : found) text += what + " ";
  return text;
}

class RecordLastOf : public testing::TestWithParam<const char*> {};

TEST_P(RecordLastOf, WhatIsKeptIsSound) {
  Recording run(program(GetParam()), {"--last=1M"});
  EXPECT_EQ(ending(run.result()), "exit 0");
  EXPECT_EQ(unsound(run.path()), "");
  EXPECT_GT(run.trace().first_seq(), Seq()) << "nothing was dropped: the test proves little";
  EXPECT_EQ(without_beginning(run.trace()), "");
  TraceCheck check = check_trace(run.trace());
  EXPECT_EQ(check.illegal_transitions, 0U);
  EXPECT_GE(check.share_equal(), 0.999) << check.describe();
}

INSTANTIATE_TEST_SUITE_P(Programs, RecordLastOf,
                         testing::Values("bank 16", "work_queue", "many_threads", "heap"));

TEST(RecordLast, TheCrashIsThereAndWhatWasAliveBefore) {
  Recording run(program("churn 3000000"), {"--last=1M"});
  EXPECT_EQ(ending(run.result()), "signal 11");
  EXPECT_THAT(run.result().err, HasSubstr("were dropped by --last"));
  EXPECT_EQ(unsound(run.path()), "");
  std::uint64_t stays = 0;
  std::uint64_t held = 0;
  std::istringstream(run.result().out) >> std::hex >> std::setbase(16) >> stays >> held;

  const TraceReader& trace = run.trace();
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(ending(trace), "signal 11");
  EXPECT_EQ(trace.ending().thread, ThreadId(1));
  EXPECT_EQ(trace.ending().seq, trace.chunks().back().end_seq() - 1);
  EXPECT_EQ(trace.chunks().front().first_seq, trace.first_seq());
  EXPECT_GT(trace.steps(), 100'000U);
  EXPECT_LT(trace.steps(), 20'000'000U);
  // The newest megabyte, and the code and tables of a small program.
  EXPECT_LT(std::filesystem::file_size(run.path()), 4U << 20);

  ASSERT_EQ(trace.threads().size(), 2U);
  EXPECT_EQ(trace.threads()[0].name, "churn");
  EXPECT_EQ(trace.threads()[1].name, "waiter");
  EXPECT_EQ(trace.threads()[1].parent, ThreadId(1));

  std::set<std::uint64_t> alive;
  for (const auto& [thread, allocation] : events<Allocation>(trace))
    if (allocation.size == 4321) alive.insert(allocation.address.value);
  EXPECT_EQ(alive, std::set<std::uint64_t>{stays});

  std::vector<std::string> of_lock;
  for (const auto& [thread, sync] : events<Sync>(trace)) {
    if (sync.object.value == held)
      of_lock.push_back(std::to_string(thread.value) + " " + std::string(to_string(sync.phase)));
  }
  EXPECT_EQ(of_lock, (std::vector<std::string>{"1 begin", "1 end", "2 begin"}));

  bool heap = false;
  for (const auto& [thread, map] : events<Mapping>(trace))
    heap = heap || (stays - map.address.value < map.size && (map.protection & 2U) != 0);
  EXPECT_TRUE(heap) << "the mapping of what stays";
  EXPECT_GT(events<ModuleLoad>(trace).size(), 2U);
  ASSERT_EQ(events<Gap>(trace).size(), 1U);
  EXPECT_EQ(events<Gap>(trace)[0].second.cause, GapCause::kBeforeWindow);
  EXPECT_EQ(events<Gap>(trace)[0].second.instructions, trace.first_seq().value);
  EXPECT_THAT(run_command({SVD_BIN_DIR "/svd-analyze", "info", run.path()}).out,
              HasSubstr("only the newest 1048576 bytes of the run were wanted"));
}

TEST(RecordLast, ARunThatFitsIsWhole) {
  Recording run(program("nothing"), {"--last=100M"});
  EXPECT_EQ(unsound(run.path()), "");
  EXPECT_TRUE(events<Gap>(run.trace()).empty());
  EXPECT_LT(std::filesystem::file_size(run.path()), 10U << 20);
}

TEST(RecordLast, TooLittleIsWrongUse) {
  Recording run(program("nothing"), {"--last=1K"});
  EXPECT_EQ(run.result().exit_code, 2);
  EXPECT_THAT(run.result().err, HasSubstr("--last takes at least 1M"));
}

}  // namespace
}  // namespace svd::test
