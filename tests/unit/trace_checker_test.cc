// SPDX-License-Identifier: Apache-2.0
//
// The checker that proves recordings is itself checked: it finds what is planted, and nothing else.

#include "support/trace_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>

#include "support/trace_builder.h"

namespace svd::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Values, ALoadOfWhatWasStoredIsEqual) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("1", {w(x, 5)});
  t.thread(2).exec("2", {r(x, 5)}).exec("3", {w(x, 6)});
  t.thread(1).exec("4", {r(x, 6)});
  TraceCheck check = check_trace(t.finish());
  EXPECT_EQ(check.loads_equal, 2U);
  EXPECT_EQ(check.loads_wrong, 0U);
  EXPECT_THAT(check.findings, ElementsAre());
}

TEST(Values, AMissingStoreIsFound) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("1", {w(x, 0x1234)}).exec("2", {r(x, 0x1235)}).exec("3", {r(x, 0x1235)});
  TraceCheck check = check_trace(t.finish());
  EXPECT_EQ(check.loads_equal, 1U) << "an error is told once";
  EXPECT_EQ(check.loads_wrong, 1U);
  EXPECT_LT(check.share_equal(), 0.6);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_THAT(check.findings[0], HasSubstr("reads 0x1235"));
}

TEST(Values, OneWrongByteOfAPartlyKnownLoadIsFound) {
  TraceBuilder t;
  Var whole = t.var("whole", 8);
  Var part{whole.address + 3, 1};
  t.thread(1).exec("1", {w(part, 0x77)}).exec("2", {r(whole, 0x1111111166111111)});
  EXPECT_EQ(check_trace(t.finish()).loads_wrong, 1U);
}

TEST(Values, WhatIsNotKnownIsCountedByReason) {
  TraceBuilder t;
  Var untouched = t.var("untouched"), wide = t.var("wide", 16), kernel = t.var("kernel", 8);
  Var half{wide.address + 4, 4};
  t.thread(1).exec("1", {r(untouched, 1)}).exec("2", {r(untouched, 1)}).exec("3", {w(wide)});
  t.exec("4", {r(half, 9)});
  const std::array<std::uint8_t, 4> data{1, 2, 3, 4};
  t.event(KernelAccess{.address = kernel.address, .size = 8, .data = data});
  t.exec("5", {r(Var{kernel.address, 4}, 0x04030201)}).exec("6", {r(kernel, 0x04030201)});
  TraceCheck check = check_trace(t.finish());
  EXPECT_EQ(check.loads_wrong, 0U);
  EXPECT_EQ(check.loads_equal, 2U);
  EXPECT_THAT(check.loads_unknown,
              ElementsAre(Pair("after a kernel write without data", 1),
                          Pair("after a store too wide for a value", 1), Pair("first touch", 1)));
}

TEST(Values, MemoryIsBounded) {
  TraceBuilder t;
  t.thread(1);
  constexpr std::uint64_t kPages = 50;
  for (std::uint64_t i = 0; i < 2 * kPages; ++i) {
    Var x{Addr(0x100000 + i % kPages * 4096), 8};
    t.exec(i < kPages ? "w" : "r", {i < kPages ? w(x, i) : r(x, i - kPages)});
  }
  TraceCheck check = check_trace(t.finish(), CheckOptions{.shadow_pages = 30});
  EXPECT_EQ(check.loads_wrong, 0U);
  EXPECT_THAT(check.loads_unknown, ElementsAre(Pair("forgotten by the checker", kPages)));
}

// 0x1000: test eax,eax; je 0x1010; 0x1004: call 0x1020; 0x1010: ret; 0x1020: mov [rbx],eax; nop;
// jmp 0x1010.
class Flow : public testing::Test {
 protected:
  Flow() {
    test_ = add({{0x1000, 2}, {0x1002, 2}}, {0x85, 0xc0, 0x74, 0x0c});
    call_ = add({{0x1004, 5}}, {0xe8, 0x17, 0, 0, 0});
    ret_ = add({{0x1010, 1}}, {0xc3});
    body_ = add({{0x1020, 2}, {0x1022, 1}, {0x1023, 2}}, {0x89, 0x03, 0x90, 0xeb, 0xeb});
  }

  BlockId add(const std::vector<std::pair<std::uint64_t, std::uint8_t>>& instructions,
              const std::vector<std::uint8_t>& code) {
    Block block;
    for (auto [pc, length] : instructions) block.instructions.push_back({Pc(pc), length});
    block.code = code;
    return t_.writer().add(block);
  }

  void run(std::initializer_list<BlockId> blocks, std::uint32_t thread = 1) {
    t_.writer().run(ThreadId(thread));
    for (BlockId block : blocks) t_.writer().exec(block, nullptr, nullptr);
  }

  std::uint64_t illegal() { return check_trace(t_.finish()).illegal_transitions; }

  TraceBuilder t_;
  BlockId test_, call_, ret_, body_;
};

TEST_F(Flow, BothWaysOfABranchCallsAndReturns) {
  run({test_, call_, body_, ret_, test_});
  run({test_, ret_, body_}, 2);
  run({ret_}, 1);
  EXPECT_EQ(illegal(), 0U);
}

TEST_F(Flow, AMissingBlockIsFound) {
  run({test_, call_, ret_});  // the call's target is missing
  TraceCheck check = check_trace(t_.finish());
  EXPECT_EQ(check.illegal_transitions, 1U);
  ASSERT_FALSE(check.findings.empty());
  EXPECT_THAT(check.findings[0], HasSubstr("from 0x1004 to 0x1010, not to 0x1020"));
}

TEST_F(Flow, ThreadsDoNotExcuseEachOther) {
  run({test_}, 1);
  run({test_}, 2);
  run({body_}, 1);  // neither target
  run({call_}, 2);
  EXPECT_EQ(illegal(), 1U);
}

TEST_F(Flow, AMiddleIsLeftByAFaultOnly) {
  t_.writer().run(ThreadId(1));
  t_.writer().exec(body_, Part{0, 1, 0, 0}, nullptr, nullptr);
  run({body_});
  EXPECT_EQ(illegal(), 1U);
}

TEST_F(Flow, ABlockInPartsIsOne) {
  t_.writer().run(ThreadId(1));
  t_.writer().exec(body_, Part{0, 1, 0, 0}, nullptr, nullptr);
  t_.writer().exec(body_, Part{1, 3, 0, 0}, nullptr, nullptr);
  run({ret_});
  EXPECT_EQ(illegal(), 0U);
}

TEST_F(Flow, AHandlerRunsAndReturns) {
  run({call_});
  t_.writer().exec(body_, Part{0, 1, 0, 0}, nullptr, nullptr);
  t_.event(Signal{.number = SIGSEGV, .pc = Pc(0x1020), .handler = Pc(0x1000)});
  run({test_, ret_});
  t_.event(SignalReturn{});
  run({body_, ret_});
  EXPECT_EQ(illegal(), 0U);
}

TEST_F(Flow, AHandlerDoesNotReturnAnywhere) {
  run({call_});
  t_.event(Signal{.number = SIGUSR1, .pc = Pc(0x1020), .handler = Pc(0x1000)});
  run({test_, ret_});
  t_.event(SignalReturn{});
  run({test_});
  EXPECT_EQ(illegal(), 1U);
}

}  // namespace
}  // namespace svd::test
