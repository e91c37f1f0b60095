// SPDX-License-Identifier: Apache-2.0
//
// Plain stores to words that locked instructions access elsewhere: which of them order what they
// guard, in machine code.

#include <gtest/gtest.h>

#include <vector>

#include "detectors/races.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

constexpr std::uint64_t kLock = 0x5000, kData = 0x6000;
constexpr ThreadId kFirst{1}, kSecond{2};

class Program {
 public:
  Program() {
    Slot read{.instruction = 0, .size = 4}, write{.instruction = 0, .size = 4, .write = true};
    Slot locked_read = read, locked_write = write, byte = write;
    locked_read.atomic = locked_write.atomic = true;
    byte.size = 1;
    lock_ = add(0x401000, {0xf0, 0x0f, 0xb1, 0x0f}, {locked_read, locked_write});  // cmpxchg
    clear_ = add(0x402000, {0xc7, 0x07, 0, 0, 0, 0}, {write});                     // mov [rdi],0
    store_ = add(0x403000, {0x89, 0x07}, {write});                                 // mov [rdi],eax
    load_ = add(0x404000, {0x8b, 0x07}, {read});                                   // mov eax,[rdi]
    clear_byte_ = add(0x405000, {0xc6, 0x07, 0}, {byte});                          // movb [rdi],0
    writer().event(kFirst, ThreadCreate{.child = kSecond, .routine = Pc(0x401000)});
  }

  void lock(ThreadId thread) {
    std::uint64_t places[] = {kLock, kLock}, values[] = {0, 1};
    run(thread, lock_, places, values);
  }
  void clear(ThreadId thread) { access(thread, clear_, kLock, 0); }
  void clear_byte(ThreadId thread) { access(thread, clear_byte_, kLock, 0); }
  void store(ThreadId thread) { access(thread, store_, kLock, 0); }
  void load(ThreadId thread) { access(thread, load_, kLock, 0); }
  void work(ThreadId thread) { access(thread, store_, kData, 5); }
  void allocate(ThreadId thread) {
    writer().event(thread, Allocation{.address = Addr(kLock), .size = 16});
  }

  // How many pairs of places race.
  std::size_t races(bool find_waits = true) {
    TraceReader trace = trace_.finish();
    Rules rules;
    NoNames names;
    LockSets lock_sets;
    Scan scan(trace, rules, names, lock_sets);
    if (find_waits) scan.find_waits();
    RaceDetector detector("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
    scan.add(detector);
    scan.walk({});
    return detector.findings().size();
  }

 private:
  TraceWriter& writer() { return trace_.writer(); }
  BlockId add(std::uint64_t at, const std::vector<std::uint8_t>& bytes, std::vector<Slot> slots) {
    Block block;
    block.instructions = {{Pc(at), static_cast<std::uint8_t>(bytes.size())}};
    block.code = bytes;
    block.slots = std::move(slots);
    return writer().add(block);
  }
  void run(ThreadId thread, BlockId block, const std::uint64_t* places,
           const std::uint64_t* values) {
    writer().run(thread);
    writer().exec(block, places, values);
  }
  void access(ThreadId thread, BlockId block, std::uint64_t place, std::uint64_t value) {
    run(thread, block, &place, &value);
  }

  TraceBuilder trace_;
  BlockId lock_, clear_, store_, load_, clear_byte_;
};

// Of two critical sections of a spin lock.
std::size_t races_with(void (Program::*unlock)(ThreadId), bool find_waits = true) {
  Program run;
  for (ThreadId thread : {kFirst, kSecond}) {
    run.lock(thread);
    run.work(thread);
    (run.*unlock)(thread);
  }
  return run.races(find_waits);
}

TEST(AtomicWords, AStoreOfAConstantReleases) {
  EXPECT_EQ(races_with(&Program::clear), 0U);
  EXPECT_GT(races_with(&Program::clear, false), 0U);
}

TEST(AtomicWords, SoDoesAStoreOfARegister) { EXPECT_EQ(races_with(&Program::store), 0U); }

TEST(AtomicWords, AStoreToAPartOfTheWordDoesNot) {
  EXPECT_GT(races_with(&Program::clear_byte), 0U);
}

// A constant does not follow from what was read, as while a lock was waited for.
TEST(AtomicWords, AConstantIsStoredWhateverWasRead) {
  Program run;
  run.lock(kFirst);
  run.load(kFirst);
  run.work(kFirst);
  run.clear(kFirst);
  run.lock(kSecond);
  run.work(kSecond);
  EXPECT_EQ(run.races(), 0U);
}

// An update in three instructions loses what others write in between.
TEST(AtomicWords, AnUpdateByPlainInstructionsIsNoAtomicOne) {
  Program run;
  run.load(kFirst);
  run.lock(kSecond);
  run.store(kFirst);
  EXPECT_GT(run.races(), 0U);
}

// Who has not taken the lock does not give it back: as a constructor that writes its fields.
TEST(AtomicWords, WhatMakesTheWordReleasesNothing) {
  Program run;
  run.work(kFirst);
  run.clear(kFirst);
  run.lock(kSecond);
  run.work(kSecond);
  EXPECT_EQ(run.races(), 2U);  // of the data, and of the word itself
}

TEST(AtomicWords, OtherUsesOfTheMemoryAreNotAtomic) {
  Program run;
  run.allocate(kFirst);
  run.work(kFirst);
  run.store(kFirst);
  run.load(kSecond);
  run.work(kSecond);
  run.allocate(kSecond);
  run.lock(kFirst);
  run.lock(kSecond);
  EXPECT_EQ(run.races(), 2U);  // of the data, and of what is a lock only later
}

}  // namespace
}  // namespace svd::test
