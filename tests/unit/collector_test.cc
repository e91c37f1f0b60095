// SPDX-License-Identifier: Apache-2.0
//
// What the collector makes of a ring: executions and their accesses, calls into the C library,
// threads, signals, and rings that are cut, full or nonsense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "collector_wire.h"
#include "elf_file.h"
#include "file_names.h"

namespace svd::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

// The lines behind the start of the first thread.
std::vector<std::string> tail(const Translated& translated) {
  auto begin = translated.lines.begin();
  while (begin != translated.lines.end() && *begin++ != "1 thread-start") {
  }
  return {begin, translated.lines.end()};
}

WireCode two_ways() {
  WireCode code;
  code.instructions = 3;
  code.slots = {reads(0, logged(4), logged(12)), writes(1, address_of(0, 8), value_of(0, 1)),
                writes(2, value_of(0, 16), constant(0x1234), 4)};
  code.exits = {leaves(1, 1, 20), leaves(3, 3, 20)};
  return code;
}

TEST(Executions, QuantitiesDeriveFromOneAnother) {
  WireLog log;
  log.first_thread().block(two_ways()).exec(1, 1, {0x50, 0x7000});
  EXPECT_THAT(tail(translate(log)),
              ElementsAre("1 run 0x1000 3", "1 0x1000 r 0x50:8 = 0x7000",
                          "1 0x1004 w 0x58:8 = 0x7001", "1 0x1008 w 0x7010:4 = 0x1234"));
}

TEST(Executions, AnEarlyExitLeavesAPrefix) {
  WireLog log;
  log.first_thread().block(two_ways()).exec(1, 0, {0x50, 0x7000});
  EXPECT_THAT(tail(translate(log)), ElementsAre("1 run 0x1000 1", "1 0x1000 r 0x50:8 = 0x7000"));
}

TEST(Executions, WithoutValues) {
  WireCode code;
  code.slots = {reads(0, logged(4), {})};
  code.exits = {leaves(1, 1, 12)};
  WireLog log;
  log.first_thread().block(code).exec(1, 0, {0x50});
  EXPECT_THAT(tail(translate(log, true, false)),
              ElementsAre("1 run 0x1000 1", "1 0x1000 r 0x50:8"));
}

TEST(Executions, AValueThatIsNotKnownIsNotInvented) {
  WireCode code;
  code.slots = {reads(0, logged(4), {})};
  code.exits = {leaves(1, 1, 12)};
  WireLog log;
  log.first_thread().block(code).exec(1, 0, {0x50});
  EXPECT_THAT(tail(translate(log)), ElementsAre("1 run 0x1000 1", "1 0x1000 r 0x50:8"));
}

TEST(Executions, WhatDidNotHappenIsAbsent) {
  WireCode code;
  code.slots = {writes(0, logged(4), logged(12))};
  code.slots[0].flags |= SVD_WIRE_OPTIONAL;
  code.slots[0].present_at = 20;
  code.exits = {leaves(1, 1, 28)};
  WireLog log;
  log.first_thread().block(code).exec(1, 0, {0x50, 7, 1}).exec(1, 0, {0x60, 8, 0});
  EXPECT_THAT(tail(translate(log)),
              ElementsAre("1 run 0x1000 1", "1 0x1000 w 0x50:8 = 0x7", "1 run 0x1000 1"));
}

TEST(Executions, WaitForWhatIsBehindThem) {
  WireLog log;
  log.first_thread().block(two_ways());
  std::uint64_t before = log.end();
  log.exec(1, 1, {0x50, 0x7000});
  EXPECT_EQ(translate(log, false).consumed, before);
  EXPECT_EQ(translate(log, true).consumed, log.end());
}

TEST(Executions, GoOnOverTheEndOfALap) {
  // Every record of the log stands once where the lap ends, and may run into the slack.
  for (std::uint64_t before = 8; before < 600; before += 8) {
    WireLog log(WireLog::kCapacity - before);
    log.first_thread().block(two_ways()).exec(1, 1, {0x50, 1}).exec(1, 0, {0x50, 2});
    ASSERT_THAT(
        tail(translate(log)),
        ElementsAre("1 run 0x1000 3", "1 0x1000 r 0x50:8 = 0x1", "1 0x1004 w 0x58:8 = 0x2",
                    "1 0x1008 w 0x11:4 = 0x1234", "1 run 0x1000 1", "1 0x1000 r 0x50:8 = 0x2"))
        << before;
  }
}

SvdWireSignal fault(std::int32_t number, std::uint64_t address, std::uint64_t pc) {
  return SvdWireSignal{{SVD_WIRE_SIGNAL, 0, 1, 0}, number, 1, address, pc};
}

SvdWireCut cut_at(std::uint64_t pc) { return SvdWireCut{{SVD_WIRE_CUT, 0, 1, 0}, pc}; }

TEST(Faults, TheFaultingAccessIsTheLast) {
  WireCode code;
  code.instructions = 3;
  code.slots = {reads(0, logged(4), logged(12)), reads(1, logged(20), logged(28)),
                writes(1, logged(36), logged(44)), writes(2, logged(52), logged(60))};
  code.exits = {leaves(3, 4, 68)};
  WireLog log;
  log.first_thread().block(code);
  log.exec(1, 0, {0x50, 7, 0x90, 0xbad, 0xbad, 0xbad, 0xbad, 0xbad});
  log.record(cut_at(0x1004)).record(fault(SIGSEGV, 0x90, 0x1004)).head(SVD_WIRE_FATAL, 1);
  EXPECT_THAT(tail(translate(log)),
              ElementsAre("1 run 0x1000 2", "1 0x1000 r 0x50:8 = 0x7", "1 0x1004 r 0x90:8 = 0x0",
                          "1 signal 11 at 0x1004 of 0x90 handler 0x0 fatal"));
}

TEST(Faults, ADivisionHasReadItsOperand) {
  WireCode code;
  code.instructions = 2;
  code.slots = {reads(0, logged(4), logged(12)), writes(1, logged(20), logged(28))};
  code.exits = {leaves(2, 2, 36)};
  WireLog log;
  log.first_thread().block(code).exec(1, 0, {0x50, 0, 0xbad, 0xbad});
  log.record(cut_at(0x1000)).record(fault(SIGFPE, 0x1000, 0x1000));
  log.record(SvdWireHandler{{SVD_WIRE_HANDLER, 0, 1, 0}, SIGFPE, 0, 0x4000});
  EXPECT_THAT(tail(translate(log)), ElementsAre("1 run 0x1000 1", "1 0x1000 r 0x50:8 = 0x0",
                                                "1 signal 8 at 0x1000 of 0x1000 handler 0x4000"));
}

std::uint64_t bell(SvdWireCall call, SvdWirePhase phase, std::int32_t result = 0) {
  return SVD_WIRE_DOORBELL(call, phase, result);
}

// A block for each doorbell, executed one after the other.
Translated ring_bells(const std::vector<std::vector<std::pair<unsigned, std::uint64_t>>>& calls) {
  WireLog log;
  log.first_thread();
  std::uint32_t id = 1;
  for (const auto& words : calls) {
    log.block(mailbox_code(id, words)).exec(id, 0, {});
    ++id;
  }
  return translate(log);
}

std::vector<std::string> events(const Translated& translated) {
  std::vector<std::string> lines;
  for (const std::string& line : tail(translated)) {
    if (line.find(" run ") == std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(Calls, StandInsideTheBlock) {
  auto translated =
      ring_bells({{{1, 0x40}, {4, 0x99}, {0, bell(SVD_CALL_MUTEX_UNLOCK, SVD_PHASE_WHOLE)}}});
  EXPECT_THAT(tail(translated),
              ElementsAre("1 run 0x100 3", "1 mutex-unlock 0x40 whole 0", "1 run 0x10c 2"));
}

TEST(Calls, AnEndBelongsToTheLastBeginOfTheSameCall) {
  auto translated = ring_bells({{{1, 0x40}, {0, bell(SVD_CALL_ONCE, SVD_PHASE_BEGIN)}},
                                {{1, 0x50}, {0, bell(SVD_CALL_ONCE, SVD_PHASE_BEGIN)}},
                                {{1, 0x60}, {0, bell(SVD_CALL_MUTEX_LOCK, SVD_PHASE_BEGIN)}},
                                {{0, bell(SVD_CALL_MUTEX_LOCK, SVD_PHASE_END, 35)}},
                                {{0, bell(SVD_CALL_ONCE, SVD_PHASE_END)}},
                                {{0, bell(SVD_CALL_ONCE, SVD_PHASE_END)}}});
  EXPECT_THAT(events(translated),
              ElementsAre("1 once 0x40 begin 0", "1 once 0x50 begin 0", "1 mutex-lock 0x60 begin 0",
                          "1 mutex-lock 0x60 end 35", "1 once 0x50 end 0", "1 once 0x40 end 0"));
}

TEST(Calls, OneThatFailsAfterItWasTold) {
  auto translated = ring_bells({{{1, 0x40}, {0, bell(SVD_CALL_MUTEX_UNLOCK, SVD_PHASE_WHOLE)}},
                                {{0, bell(SVD_CALL_MUTEX_UNLOCK, SVD_PHASE_END, 1)}}});
  EXPECT_THAT(events(translated),
              ElementsAre("1 mutex-unlock 0x40 whole 0", "1 mutex-unlock 0x40 end 1"));
}

TEST(Allocations, AreBornAndReleased) {
  auto translated = ring_bells({{{1, 0x40}, {2, 10}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_WHOLE)}},
                                {{1, 0}, {2, 1000}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_WHOLE)}},
                                {{1, 0x40}, {0, bell(SVD_CALL_FREE, SVD_PHASE_WHOLE)}},
                                {{1, 0}, {0, bell(SVD_CALL_FREE, SVD_PHASE_WHOLE)}}});
  EXPECT_THAT(events(translated), ElementsAre("1 malloc 0x40:10", "1 release 0x40"));
}

TEST(Allocations, AReallocIsAReleaseAndAnAllocation) {
  auto translated = ring_bells({{{1, 0x40}, {2, 20}, {0, bell(SVD_CALL_REALLOC, SVD_PHASE_BEGIN)}},
                                {{1, 0x80}, {2, 20}, {0, bell(SVD_CALL_REALLOC, SVD_PHASE_END)}}});
  EXPECT_THAT(events(translated), ElementsAre("1 release 0x40", "1 realloc 0x80:20"));
}

TEST(Allocations, AReallocThatFailsChangesNothing) {
  auto translated = ring_bells({{{1, 0x40}, {2, 20}, {0, bell(SVD_CALL_REALLOC, SVD_PHASE_BEGIN)}},
                                {{1, 0}, {2, 20}, {0, bell(SVD_CALL_REALLOC, SVD_PHASE_END)}}});
  EXPECT_THAT(events(translated), ElementsAre());
}

TEST(Probes, ArgumentsAtTheEntryResultAtTheReturn) {
  auto translated =
      ring_bells({{{1, 10}, {5, 0x800}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_ENTRY)}},
                  // What the allocator itself calls is not told.
                  {{1, 10}, {5, 0x700}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_ENTRY)}},
                  {{1, 0x40}, {5, 0x708}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_RETURN)}},
                  {{1, 0x40}, {5, 0x808}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_RETURN)}},
                  // A jump to where some call returns.
                  {{1, 0x50}, {5, 0x808}, {0, bell(SVD_CALL_MALLOC, SVD_PHASE_RETURN)}},
                  {{1, 0x60}, {5, 0x600}, {0, bell(SVD_CALL_MUTEX_LOCK, SVD_PHASE_ENTRY)}},
                  {{1, 0}, {5, 0x608}, {0, bell(SVD_CALL_MUTEX_LOCK, SVD_PHASE_RETURN)}}});
  EXPECT_THAT(events(translated), ElementsAre("1 malloc 0x40:10", "1 mutex-lock 0x60 begin 0",
                                              "1 mutex-lock 0x60 end 0"));
}

TEST(Threads, ANumberThatIsUsedAgainIsAnotherThread) {
  WireLog log;
  log.first_thread().block(two_ways());
  for (int life = 0; life < 2; ++life) {
    log.record(SvdWireThreadCreate{{SVD_WIRE_THREAD_CREATE, 0, 1, 0}, 2, 0, 0});
    log.record(SvdWireThreadStart{{SVD_WIRE_THREAD_START, 0, 2, 0}, 101, 0, 0x5000, 0, 0, 0});
    log.run(2).exec(1, 0, {0x50, 7}).head(SVD_WIRE_THREAD_EXIT, 2).run(1);
  }
  EXPECT_THAT(translate(log).lines,
              IsSupersetOf({"2 run 0x1000 1", "2 thread-exit", "3 run 0x1000 1", "3 thread-exit"}));
}

TEST(Threads, AJoinNamesTheLifeThatItWaitsFor) {
  WireLog log;
  log.first_thread();
  log.record(SvdWireThreadCreate{{SVD_WIRE_THREAD_CREATE, 0, 1, 0}, 2, 0, 0});
  log.record(SvdWireThreadStart{{SVD_WIRE_THREAD_START, 0, 2, 0}, 101, 0, 0x5000, 0, 0, 0});
  log.block(mailbox_code(1, {{1, 0x5000}, {0, bell(SVD_CALL_THREAD_JOIN, SVD_PHASE_BEGIN)}}));
  log.run(1).exec(1, 0, {});
  EXPECT_THAT(translate(log).lines, Contains("1 joins 2 begin"));
}

TEST(Kernel, WritesCarryTheirBytes) {
  WireLog log;
  log.first_thread();
  log.record(SvdWireRange{{SVD_WIRE_KERNEL_WRITE, 0, 1, 0}, 0x50, 3}, "abc");
  EXPECT_THAT(tail(translate(log)), ElementsAre("1 kernel 0x50:3 3"));
}

TEST(Kernel, TransfersNameTheirChannel) {
  WireLog log;
  log.first_thread();
  log.record(SvdWireTransfer{{SVD_WIRE_TRANSFER, 0, 1, 0}, 2, 1, 7, 0x50, 3}, "pipe");
  EXPECT_THAT(tail(translate(log)), ElementsAre("1 transfer read 2@7 0x50:3 pipe"));
}

TEST(Nonsense, IsDamage) {
  WireLog unknown_block;
  unknown_block.first_thread().exec(7, 0, {0x50});
  EXPECT_TRUE(translate(unknown_block).damaged);
  WireLog unknown_exit;
  unknown_exit.first_thread().block(two_ways()).exec(1, 9, {0x50});
  EXPECT_TRUE(translate(unknown_exit).damaged);
  WireLog unknown_record;
  unknown_record.first_thread().head(200);
  EXPECT_TRUE(translate(unknown_record).damaged);
  WireCode outside = two_ways();
  outside.slots[1].address.slot = 1;  // derives from itself
  WireLog bad_block;
  bad_block.first_thread().block(outside);
  EXPECT_TRUE(translate(bad_block).damaged);
}

TEST(Names, AreDistinctAndStayTheSame) {
  FileNames asked("x.fb");
  EXPECT_EQ(asked.name(10, 0, "/bin/a"), "x.fb");
  EXPECT_EQ(asked.name(11, 0, "/bin/a"), "x.11.fb");
  EXPECT_EQ(asked.name(10, 1, "/bin/b"), "x.10.fb");
  EXPECT_EQ(asked.name(10, 2, "/bin/b"), "x.10.2.fb");
  EXPECT_EQ(asked.name(10, 0, "/bin/a"), "x.fb");
  FileNames numbered("t.%p");
  EXPECT_EQ(numbered.name(10, 0, "/bin/a"), "t.10");
  EXPECT_EQ(numbered.name(11, 0, "/bin/a"), "t.11");
  FileNames made("");
  EXPECT_EQ(made.name(10, 0, "/bin/a"), "a.10.fb");
  EXPECT_EQ(made.name(10, 1, "/bin/a"), "a.10.2.fb");
}

TEST(ElfFiles, OurselvesAndWhatIsNone) {
  auto self = read_elf("/proc/self/exe");
  ASSERT_TRUE(self);
  EXPECT_TRUE(self->dynamic_linker);
  EXPECT_GE(self->segments.size(), 2U);
  EXPECT_FALSE(read_elf("/proc/self/cmdline"));
  EXPECT_FALSE(read_elf("/nonexistent"));
}

}  // namespace
}  // namespace svd::test
