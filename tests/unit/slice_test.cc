// SPDX-License-Identifier: Apache-2.0
//
// The backward slice by hand: the paper's figures, bytes, lifetimes, the kernel.

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "plain_slice.h"
#include "slicer/backward.h"

namespace svd::test {
namespace {

Outcome fast(const TraceReader& trace, const Criterion& criterion, const SliceOptions& options) {
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  return outcome_of(
      trace, model,
      slice_backward({trace, model.code, model.control, {}}, {criterion}, options, diagnostics));
}

std::set<std::string> labels(const Outcome& outcome) {
  std::set<std::string> all;
  for (const auto& [label, count] : outcome.instances) all.insert(label);
  return all;
}

// Slicing paper, Fig. 1 (a): U1 reads what D2 of the other thread wrote over D1.
TEST(Slice, Figure1WriteAfterWrite) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)});
  t.thread(2).exec("D2", {w(x)});
  t.thread(1).exec("U1", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(2), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"D2", "U1"}));
  EXPECT_EQ(outcome.write_after_write, (Pairs{{"D1", "D2"}}));
  EXPECT_EQ(outcome.remote_reads, (Pairs{{"D2", "U1"}}));
}

// Fig. 1 (b): U1 reads before D2 writes.
TEST(Slice, Figure1WriteAfterRead) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)}).exec("U1", {r(x)});
  t.thread(2).exec("D2", {w(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(1), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"D1", "U1"}));
  EXPECT_EQ(outcome.write_after_read, (Pairs{{"U1", "D2"}}));
}

// Fig. 8, right: of three writes by three threads only neighbours have an edge; D4 comes in because
// D5, which its neighbour D6 has an edge to, is not what U reads.
TEST(Slice, Figure8OnlyAdjacentWrites) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D4", {w(x)});
  t.thread(2).exec("D5", {w(x)});
  t.thread(3).exec("D6", {w(x)});
  t.thread(1).exec("U", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(3), .thread = ThreadId(1)}, {});
  EXPECT_EQ(outcome.write_after_write, (Pairs{{"D5", "D6"}}));
}

// What two threads count down and then look at: the look of each is a triple, though what the
// others did in between are triples, too, and end in the same accesses.
TEST(Slice, TriplesOfSeveralThreads) {
  TraceBuilder t;
  Var count = t.var("count");
  t.thread(1).exec("down1", {r(count), w(count)});
  t.thread(2).exec("down2", {r(count), w(count)});
  t.thread(3).exec("down3", {r(count), w(count)});
  t.thread(2).exec("down2 again", {r(count), w(count)});
  t.thread(1).exec("look", {r(count)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(4), .thread = ThreadId(1)}, {});
  std::set<std::array<std::string, 3>> expected{{"down1", "down2 again", "look"},
                                                {"down2", "down3", "down2 again"}};
  EXPECT_EQ(outcome.triples, expected);
}

TEST(Slice, BytesAreToldApart) {
  TraceBuilder t;
  Var all = t.var("all", 8);
  Var low{all.address, 4};
  Var high{all.address + 4, 4};
  t.thread(1).exec("low", {w(low)}).exec("high", {w(high)}).exec("use", {r(low)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(2), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"low", "use"}));
}

TEST(Slice, WhatWasFreedDoesNotReachWhatIsAllocatedThere) {
  TraceBuilder t;
  Var x = t.var("x", 8);
  t.thread(1).event(Allocation{.address = x.address, .size = 8});
  t.exec("old", {w(x)}).event(Release{.address = x.address});
  t.event(Allocation{.address = x.address, .size = 8});
  t.exec("use", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(1), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"use"}));
}

// write(fd, buffer, size) follows from its three arguments and the bytes, not from r10.
TEST(Slice, ASystemCallFollowsFromItsArguments) {
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  TraceBuilder t(process);
  Block block;
  std::uint64_t pc = 0x401000;
  auto add = [&](std::initializer_list<std::uint8_t> code) {
    block.instructions.push_back({Pc(pc), static_cast<std::uint8_t>(code.size())});
    block.code.insert(block.code.end(), code);
    pc += code.size();
  };
  add({0xc6, 0x06, 1});  // mov byte [rsi],1
  block.slots.push_back({.instruction = 0, .size = 1, .write = true});
  add({0x48, 0xc7, 0xc2, 1, 0, 0, 0});  // mov rdx,1
  add({0x49, 0xc7, 0xc2, 1, 0, 0, 0});  // mov r10,1
  add({0x48, 0xc7, 0xc7, 1, 0, 0, 0});  // mov rdi,1
  add({0x48, 0xc7, 0xc0, 1, 0, 0, 0});  // mov rax,1
  add({0x0f, 0x05});                    // syscall
  std::uint64_t buffer = 0x10000;
  t.writer().run(ThreadId(1));
  t.writer().exec(t.writer().add(block), &buffer, nullptr);
  t.event(SyscallEnter{.number = 1});
  t.event(KernelAccess{.access = Access::kRead, .address = Addr(buffer), .size = 1});
  TraceReader trace = t.finish();
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Slice slice = slice_backward({trace, model.code, model.control, {}},
                               {{.seq = Seq(5), .thread = ThreadId(1)}}, {}, diagnostics);
  std::set<std::uint64_t> found;
  for (const SliceItem& item : slice.items) found.insert(item.nearest.seq.value);
  EXPECT_EQ(found, (std::set<std::uint64_t>{0, 1, 3, 4, 5}));
}

// mov [rsi],rdi; mov [rsi],rcx, which faults; its handler reads what the first one wrote.
TEST(Slice, AStoreThatFaultedDefinesNothing) {
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  TraceBuilder t(process);
  auto block = [&t](std::uint64_t pc, std::vector<std::uint8_t> code, bool write) {
    return t.writer().add(Block{.instructions = {{Pc(pc), static_cast<std::uint8_t>(code.size())}},
                                .code = code,
                                .slots = {{.instruction = 0, .size = 8, .write = write}}});
  };
  std::uint64_t place = 0x10000;
  t.writer().run(ThreadId(1));
  t.writer().exec(block(0x401000, {0x48, 0x89, 0x3e}, true), &place, nullptr);
  t.writer().exec(block(0x401003, {0x48, 0x89, 0x0e}, true), &place, nullptr);
  t.event(Signal{.number = 11, .code = 2, .pc = Pc(0x401003), .handler = Pc(0x402000)});
  t.writer().exec(block(0x402000, {0x48, 0x8b, 0x06}, false), &place, nullptr);
  TraceReader trace = t.finish();
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Slice slice =
      slice_backward({trace, model.code, model.control, {}},
                     {{.seq = Seq(2), .thread = ThreadId(1)}}, {.control = false}, diagnostics);
  std::set<std::uint64_t> found;
  for (const SliceItem& item : slice.items) found.insert(item.nearest.seq.value);
  EXPECT_EQ(found, (std::set<std::uint64_t>{0, 2}));
}

}  // namespace
}  // namespace svd::test
