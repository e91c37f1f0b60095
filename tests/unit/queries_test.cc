// SPDX-License-Identifier: Apache-2.0
//
// Questions about small runs that are written by hand.

#include <gtest/gtest.h>

#include <algorithm>

#include "slicer/queries/causes.h"
#include "slicer/queries/memory_value.h"
#include "slicer/queries/readers.h"
#include "slicer/queries/register_value.h"
#include "support/asked_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

Range bytes(Var var) { return {var.address, var.size}; }

std::vector<std::uint64_t> seqs(const std::vector<Writer>& writers) {
  std::vector<std::uint64_t> all;
  all.reserve(writers.size());
  for (const Writer& writer : writers) all.push_back(writer.event ? writer.event->seq.value : 99);
  return all;
}

using Numbers = std::vector<std::uint64_t>;

TEST(MemoryEvents, EachByteHasItsOwnWriter) {
  TraceBuilder t;
  Var all = t.var("all", 8);
  Var low{all.address, 4};
  t.thread(1).exec("0", {w(all, 1)}).exec("1", {w(low, 2)}).exec("2", {r(all, 2)});
  AskedRun asked(t.finish());
  EXPECT_EQ(seqs(writers(asked.run, bytes(all), Seq(2))), (Numbers{1, 0}));
  EXPECT_EQ(seqs(writers(asked.run, bytes(all), Seq(1))), (Numbers{0}));
  EXPECT_EQ(seqs(writers(asked.run, bytes(all), Seq(0))), (Numbers{99}));
  EXPECT_EQ(seqs(next_writers(asked.run, bytes(all), Seq(0))), (Numbers{1, 99}));
}

TEST(MemoryEvents, NothingIsWrittenBeforeAnAllocation) {
  TraceBuilder t;
  Var x = t.var("x", 8);
  t.thread(1).exec("0", {w(x)}).event(Allocation{.address = x.address, .size = 8});
  t.exec("1", {r(x)});
  AskedRun asked(t.finish());
  EXPECT_EQ(seqs(writers(asked.run, bytes(x), Seq(1))), (Numbers{99}));
}

// The kernel writes after the first statement of thread 2, which is 1; then thread 1 goes on.
TEST(MemoryEvents, TheKernelWritesForTheInstructionBefore) {
  TraceBuilder t;
  Var x = t.var("x", 8);
  std::vector<std::uint8_t> data{5, 6};
  t.thread(1).exec("0", {w(x, 1)}).thread(2).exec("1", {}).thread(1).exec("2", {});
  t.thread(2).event(KernelAccess{.address = x.address, .size = 4, .data = data});
  t.thread(1).exec("3", {r(x)});
  AskedRun asked(t.finish());
  auto by = writers(asked.run, bytes(x), Seq(3));
  ASSERT_EQ(by.size(), 2U);
  EXPECT_TRUE(by[0].event->kernel);
  EXPECT_EQ(by[0].bytes.size, 4U);
  EXPECT_EQ(instruction_of(asked.run, *by[0].event), Seq(1));
  // Of the kernel's four bytes two are known, and what was there before is hidden.
  auto value = memory_value(asked.run, bytes(x), Seq(3));
  EXPECT_EQ(value[0], 5);
  EXPECT_EQ(value[1], 6);
  EXPECT_EQ(value[4], 0);
}

TEST(MemoryValue, IsToldByTheNextReadWhereNothingWasWritten) {
  TraceBuilder t;
  Var x = t.var("x", 2);
  t.thread(1).exec("0", {}).exec("1", {r(x, 0x102)}).exec("2", {w(x, 3)});
  AskedRun asked(t.finish());
  using Bytes = std::vector<std::optional<std::uint8_t>>;
  EXPECT_EQ(memory_value(asked.run, bytes(x), Seq(0)), (Bytes{2, 1}));
  EXPECT_EQ(memory_value(asked.run, bytes(x), Seq(2)), (Bytes{2, 1}));
  EXPECT_EQ(memory_value(asked.run, bytes(x), Seq(3)), (Bytes{3, 0}));
  EXPECT_EQ(memory_value(asked.run, {x.address + 2, 1}, Seq(0)), (Bytes{std::nullopt}));
}

TEST(Readers, UpToTheNextWrite) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("w", {w(x, 1)}).exec("a", {r(x)}).exec("a", {r(x)});
  t.thread(2).exec("a", {r(x)}).exec("w", {w(x, 2)}).exec("a", {r(x)});
  AskedRun asked(t.finish());
  Readers readers = readers_of(asked.run, bytes(x), Seq(0));
  ASSERT_EQ(readers.all.size(), 2U);
  EXPECT_EQ(readers.all[0].count, 2U);
  EXPECT_EQ(readers.all[0].last, Seq(2));
  EXPECT_EQ(readers.all[1].first.thread, ThreadId(2));
  EXPECT_EQ(readers.until, Seq(4));
  EXPECT_EQ(readers_of(asked.run, bytes(x), Seq(4)).until, std::nullopt);
}

TEST(Readers, MoreThanAPersonLooksAtAreCounted) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("w", {w(x, 1)});
  for (int i = 0; i < 30; ++i) t.exec("r" + std::to_string(i), {r(x)});
  AskedRun asked(t.finish());
  Readers readers = readers_of(asked.run, bytes(x), Seq(0));
  EXPECT_EQ(readers.all.size() + readers.others, 30U);
  EXPECT_GT(readers.others, 0U);
}

TEST(Readers, WhatIsReadAllOverTheRunCanBeGoneOnWith) {
  TraceBuilder t(TraceBuilder::text_process(), {2});
  Var x = t.var("x");
  t.thread(1).exec("w", {w(x, 1)});
  for (int i = 0; i < 99; ++i) t.exec("r", {r(x)});
  AskedRun asked(t.finish());
  std::uint64_t count = 0;
  std::optional<Seq> from = Seq(0);
  while (from) {
    Readers readers = readers_of(asked.run, bytes(x), *from);
    for (const Reader& reader : readers.all) count += reader.count;
    from = readers.stopped;
    if (from) from = *from - 1;
  }
  EXPECT_EQ(count, 99U);
}

// Slicing paper, Fig. 1: what D2 wrote over D1 is what U reads, and D2 could have come first.
TEST(Causes, AReadOfWhatAnotherThreadWroteOver) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)}).thread(2).exec("D2", {w(x)}).thread(1).exec("U", {r(x)});
  AskedRun asked(t.finish());
  Causes of_use = causes_of(asked.run, *asked.run.find(Seq(2)));
  ASSERT_EQ(of_use.memory.size(), 1U);
  EXPECT_EQ(of_use.memory[0].writer, Seq(1));
  Causes of_write = causes_of(asked.run, *asked.run.find(Seq(1)));
  ASSERT_EQ(of_write.races.size(), 1U);
  EXPECT_EQ(of_write.races[0].other, Seq(0));
}

// A run of machine code in which registers show what they hold.
class RegisterValues : public testing::Test {
 protected:
  static constexpr std::uint64_t kData = 0x10000, kStack = 0x70000000;

  void add(std::initializer_list<std::uint8_t> code) {
    block_.instructions.push_back({Pc(pc_), static_cast<std::uint8_t>(code.size())});
    block_.code.insert(block_.code.end(), code);
    pc_ += code.size();
  }
  void access(bool write, std::uint16_t size, std::uint64_t address, std::uint64_t value) {
    auto instruction = static_cast<std::uint16_t>(block_.instructions.size() - 1);
    block_.slots.push_back({.instruction = instruction, .size = size, .write = write});
    addresses_.push_back(address);
    values_.push_back(value);
  }
  void run() {
    builder_.writer().run(ThreadId(1));
    builder_.writer().exec(builder_.writer().add(block_), addresses_.data(), values_.data());
    asked_.emplace(builder_.finish());
  }
  std::optional<std::uint64_t> value(unsigned reg, std::uint64_t at, unsigned known = 8) {
    auto found = register_value(asked_->run, static_cast<Reg>(reg), Seq(at));
    if (!found) return std::nullopt;
    EXPECT_EQ(found->bytes, known);
    return found->value;
  }

 private:
  TraceBuilder builder_;
  Block block_;
  std::uint64_t pc_ = 0x401000;
  std::vector<std::uint64_t> addresses_, values_;
  std::optional<AskedRun> asked_;
};

constexpr unsigned kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRsi = 6, kRdi = 7, kR8 = 8;

TEST_F(RegisterValues, AreToldByLoadsStoresSumsAndAddresses) {
  add({0x48, 0x8b, 0x1f});  // 0: mov rbx,[rdi]
  access(false, 8, kData, 500);
  add({0x48, 0x8d, 0x43, 0x08});  // 1: lea rax,[rbx+8]
  add({0x48, 0x89, 0xc2});        // 2: mov rdx,rax
  add({0x48, 0x89, 0x4f, 0x10});  // 3: mov [rdi+16],rcx
  access(true, 8, kData + 16, 77);
  add({0x48, 0x29, 0xd8});  // 4: sub rax,rbx
  add({0x90});              // 5: nop
  run();
  EXPECT_EQ(value(kRbx, 0), std::nullopt);
  EXPECT_EQ(value(kRbx, 1), 500U);
  EXPECT_EQ(value(kRax, 2), 508U);
  EXPECT_EQ(value(kRdx, 2), std::nullopt);
  EXPECT_EQ(value(kRdx, 3), 508U);
  EXPECT_EQ(value(kRdi, 0), kData);
  EXPECT_EQ(value(kRdi, 5), kData);
  EXPECT_EQ(value(kRcx, 1), 77U);
  EXPECT_EQ(value(kRax, 5), 8U);
  EXPECT_EQ(value(kRsi, 5), std::nullopt);
}

TEST_F(RegisterValues, WidthsAndSigns) {
  add({0xba, 0xff, 0xff, 0xff, 0xff});  // 0: mov edx,-1
  add({0x48, 0x0f, 0xbe, 0x07});        // 1: movsx rax,byte [rdi]
  access(false, 1, kData, 0x80);
  add({0x0f, 0xbe, 0x0f});  // 2: movsx ecx,byte [rdi]
  access(false, 1, kData, 0x80);
  add({0x44, 0x89, 0x07});  // 3: mov [rdi],r8d
  access(true, 4, kData, 9);
  add({0x31, 0xf6});  // 4: xor esi,esi
  add({0xb3, 0x01});  // 5: mov bl,1
  add({0x90});        // 6
  run();
  EXPECT_EQ(value(kRdx, 1), 0xffffffffU);
  EXPECT_EQ(value(kRax, 2), ~std::uint64_t{0x7f});
  EXPECT_EQ(value(kRcx, 3), 0xffffff80U);
  EXPECT_EQ(value(kR8, 0, 4), 9U);
  EXPECT_EQ(value(kRsi, 6), 0U);
  EXPECT_EQ(value(kRbx, 6), std::nullopt);
}

TEST_F(RegisterValues, TheStackPointer) {
  add({0x51});  // 0: push rcx
  access(true, 8, kStack, 3);
  add({0x48, 0x83, 0xec, 0x20});  // 1: sub rsp,32
  add({0x48, 0x83, 0xc4, 0x20});  // 2: add rsp,32
  add({0x5e});                    // 3: pop rsi
  access(false, 8, kStack, 3);
  add({0x90});  // 4
  run();
  EXPECT_EQ(value(kRsp, 0), kStack + 8);
  EXPECT_EQ(value(kRsp, 1), kStack);
  EXPECT_EQ(value(kRsp, 2), kStack - 32);
  EXPECT_EQ(value(kRsp, 4), kStack + 8);
  EXPECT_EQ(value(kRsi, 4), 3U);
}

}  // namespace
}  // namespace svd::test
