// SPDX-License-Identifier: Apache-2.0
//
// What a trace restates of the events that were dropped before it.

#include "live_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace svd {
namespace {

using testing::ElementsAre;

constexpr ThreadId kMain(1);
constexpr ThreadId kOther(2);
constexpr Addr kLock(0x100);

class Live : public testing::Test {
 protected:
  void drop(ThreadId thread, const EventBody& body) { state_.drop(thread, body); }

  // The events of kind T, in words of `describe`.
  template <class T>
  std::vector<std::string> told(std::string (*describe)(ThreadId, const T&)) const {
    std::vector<std::string> list;
    state_.restate([&](ThreadId thread, const EventBody& body) {
      if (const auto* event = std::get_if<T>(&body)) list.push_back(describe(thread, *event));
    });
    return list;
  }

  std::vector<std::string> calls() const {
    return told<Sync>([](ThreadId thread, const Sync& sync) {
      return std::to_string(thread.value) + " " + std::string(to_string(sync.op)) + " " +
             std::string(to_string(sync.phase));
    });
  }

  std::vector<std::string> mapped() const {
    return told<Mapping>([](ThreadId, const Mapping& map) {
      return std::to_string(map.address.value) + "+" + std::to_string(map.size) + " " +
             std::to_string(map.protection) + " at " + std::to_string(map.file_offset);
    });
  }

  LiveState state_;
};

Sync sync(SyncOp op, Phase phase = Phase::kWhole, Addr object = kLock) {
  Sync event;
  event.op = op;
  event.object = object;
  event.phase = phase;
  return event;
}

Mapping map(MapOp op, std::uint64_t address, std::uint64_t size, std::uint32_t protection) {
  Mapping event;
  event.op = op;
  event.address = Addr(address);
  event.size = size;
  event.protection = protection;
  return event;
}

TEST_F(Live, AThreadHasItsLastNameAndTheDeadAreGone) {
  std::string name = "first";
  drop(kMain, ThreadStart{kMain, 10, Addr(), 0, name});
  drop(kOther, ThreadStart{kMain, 11, Addr(), 0, {}});
  name = "other";
  drop(kMain, ThreadName{"second"});
  drop(kOther, ThreadExit{});
  EXPECT_THAT(told<ThreadStart>([](ThreadId thread, const ThreadStart& start) {
                return std::to_string(thread.value) + " " + std::string(start.name);
              }),
              ElementsAre("1 second"));
}

TEST_F(Live, WhatIsUnlockedIsNotHeld) {
  drop(kMain, sync(SyncOp::kMutexLock, Phase::kBegin));
  drop(kMain, sync(SyncOp::kMutexLock, Phase::kEnd));
  EXPECT_THAT(calls(), ElementsAre("1 mutex-lock begin", "1 mutex-lock end"));
  Sync refused = sync(SyncOp::kMutexUnlock);
  refused.result = 1;
  drop(kMain, refused);
  EXPECT_THAT(calls(), ElementsAre("1 mutex-lock begin", "1 mutex-lock end"));
  drop(kMain, sync(SyncOp::kMutexUnlock));
  EXPECT_THAT(calls(), ElementsAre());
}

TEST_F(Live, ALockOutlivesItsThreadUntilAnotherUnlocksIt) {
  drop(kOther, ThreadStart{kMain, 11, Addr(), 0, {}});
  drop(kOther, sync(SyncOp::kMutexTrylock));
  drop(kOther, ThreadExit{});
  EXPECT_THAT(calls(), ElementsAre("2 mutex-trylock whole"));
  EXPECT_EQ(told<ThreadExit>([](ThreadId, const ThreadExit&) { return std::string(); }).size(), 1U);
  drop(kMain, sync(SyncOp::kMutexUnlock));
  EXPECT_THAT(calls(), ElementsAre());
}

TEST_F(Live, AOnceRoutineThatLocksIsStillUnderWay) {
  drop(kMain, sync(SyncOp::kOnce, Phase::kBegin, Addr(0x200)));
  drop(kMain, sync(SyncOp::kMutexLock, Phase::kBegin));
  drop(kMain, sync(SyncOp::kMutexLock, Phase::kEnd));
  EXPECT_THAT(calls(), ElementsAre("1 mutex-lock begin", "1 mutex-lock end", "1 once begin"));
}

TEST_F(Live, WhoWaitsForAConditionLeavesTheMutexToAnother) {
  drop(kOther, sync(SyncOp::kMutexTrylock));
  drop(kOther, sync(SyncOp::kCondWait, Phase::kBegin, Addr(0x300)));
  drop(kMain, sync(SyncOp::kMutexTrylock));
  EXPECT_THAT(calls(),
              ElementsAre("2 mutex-trylock whole", "2 cond-wait begin", "1 mutex-trylock whole"));
}

TEST_F(Live, ASemaphoreHasItsPresentValue) {
  Sync init = sync(SyncOp::kSemInit);
  init.argument = 3;
  drop(kMain, init);
  drop(kMain, sync(SyncOp::kSemPost));
  drop(kMain, sync(SyncOp::kSemWait, Phase::kBegin));
  drop(kMain, sync(SyncOp::kSemWait, Phase::kEnd));
  drop(kMain, sync(SyncOp::kSemTrywait));
  EXPECT_THAT(told<Sync>([](ThreadId, const Sync& s) { return std::to_string(s.argument); }),
              ElementsAre("2"));
}

TEST_F(Live, MappingsAreCutProtectedAndMoved) {
  drop(kMain, map(MapOp::kMap, 1000, 300, 3));
  drop(kMain, map(MapOp::kUnmap, 1000, 100, 0));
  drop(kMain, map(MapOp::kProtect, 1200, 50, 1));
  EXPECT_THAT(mapped(), ElementsAre("1100+100 3 at 100", "1200+50 1 at 200", "1250+50 3 at 250"));
  Mapping moved = map(MapOp::kRemap, 5000, 80, 0);
  moved.old_address = Addr(1200);
  moved.old_size = 50;
  drop(kMain, moved);
  EXPECT_THAT(mapped(), ElementsAre("1100+100 3 at 100", "1250+50 3 at 250", "5000+80 1 at 200"));
}

TEST_F(Live, OnlyAllocationsThatWereNotFreed) {
  for (std::uint64_t address : {1U, 2U, 3U})
    drop(kMain, Allocation{AllocFn::kMalloc, Addr(address), 8, 0, StackId(7)});
  drop(kOther, Release{AllocFn::kFree, Addr(2), kNoStack});
  EXPECT_THAT(told<Allocation>([](ThreadId, const Allocation& allocation) {
                return std::to_string(allocation.address.value) + " " +
                       std::to_string(allocation.stack.value);
              }),
              ElementsAre("1 7", "3 7"));
}

}  // namespace
}  // namespace svd
