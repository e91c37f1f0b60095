// SPDX-License-Identifier: Apache-2.0
//
// The regions of branches against recorded runs: a call that executes a branch reaches the branch's
// post-dominator before it returns. That holds only if the graph of the function has every way that
// the run took, so it tests functions, jump tables and fragments of all libraries that ran, too.

#include "cfg/control_flow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <unordered_map>
#include <vector>

#include "decode/decoder.h"
#include "e2e/record.h"

namespace svd::test {
namespace {

class RegionChecker {
 public:
  explicit RegionChecker(const TraceReader& trace) {
    Diagnostics diagnostics;
    flow_ = ControlFlow::of(trace, diagnostics);
    Decoder decoder;
    for (const Block& block : trace.blocks()) {
      auto& instructions = blocks_.emplace_back();
      auto effects = decoder.decode(block);
      for (std::size_t i = 0; i < block.instructions.size(); ++i) {
        const Instruction& instruction = block.instructions[i];
        Pc next = instruction.pc + instruction.length;
        instructions.push_back({instruction.pc, next, effects[i].flow, flow_.at(instruction.pc)});
      }
    }
  }

  void exec(const Exec& exec) {
    Thread& thread = threads_[exec.thread];
    const Part& part = exec.shape->part;
    for (std::uint16_t i = part.first; i < part.end; ++i)
      execute(thread, blocks_[exec.shape->id.value][i]);
  }

  // After a signal, its end or a gap nothing is known of what is active.
  void event(const Event& event) {
    if (std::holds_alternative<Signal>(event.body) ||
        std::holds_alternative<SignalReturn>(event.body) || std::holds_alternative<Gap>(event.body))
      threads_.erase(event.thread);
  }

  std::size_t returns = 0;    // of calls whose regions were checked
  std::size_t regions = 0;    // that were opened and closed in them
  std::size_t unwound = 0;    // calls that were left in another way
  std::map<Pc, Pc> missed{};  // branches whose post-dominator did not come
  const ControlFlow& flow() const { return flow_; }

 private:
  struct Executable {
    Pc pc{};
    Pc next{};
    Flow flow{};
    ControlFlow::Point point;
  };
  struct Call {
    Pc back{};                // where it returns to
    std::map<Pc, Pc> open{};  // ends of regions, and a branch of each
  };
  struct Thread {
    std::vector<Call> calls{1};
    bool returning = false;
  };

  void execute(Thread& thread, const Executable& instruction) {
    if (thread.returning) leave(thread, instruction.pc);
    thread.returning = instruction.flow == Flow::kReturn;
    Call& call = thread.calls.back();
    const ControlFlow::Point& point = instruction.point;
    if (point.joins) regions += call.open.erase(instruction.pc);
    if (point.branch && point.post_dominator != kNoPostDominator)
      call.open.emplace(point.post_dominator, instruction.pc);
    if (instruction.flow == Flow::kCall || instruction.flow == Flow::kIndirectCall)
      thread.calls.push_back({instruction.next, {}});
  }

  // Exceptions and longjmp leave several calls at once.
  void leave(Thread& thread, Pc to) {
    auto& calls = thread.calls;
    auto left = std::find_if(calls.rbegin(), calls.rend(),
                             [&](const Call& call) { return call.back == to; });
    if (left == calls.rbegin()) {
      ++returns;
      for (const auto& [end, branch] : left->open) missed.emplace(branch, end);
    } else {
      ++unwound;
    }
    if (left == calls.rend()) {
      calls.assign(1, {});
    } else {
      calls.erase(std::prev(left.base()), calls.end());
      if (calls.empty()) calls.emplace_back();
    }
  }

  ControlFlow flow_;
  std::vector<std::vector<Executable>> blocks_;
  std::unordered_map<ThreadId, Thread> threads_;
};

class Regions : public testing::TestWithParam<const char*> {};

TEST_P(Regions, EndBeforeTheirCallReturns) {
  Recording recording(program(GetParam()));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  RegionChecker checker(recording.trace());
  Diagnostics diagnostics;
  recording.trace().scan(TraceReader::Order::kForward, {.addresses = false, .values = false},
                         diagnostics,
                         [&](const Chunk& chunk) { return chunk.walk(checker), true; });
  std::cout << fmt::format("{} regions in {} calls ended, {} calls were unwound\n", checker.regions,
                           checker.returns, checker.unwound);
  for (const auto& [branch, end] : checker.missed) {
    std::uint32_t function = checker.flow().at(branch).function;
    ADD_FAILURE() << fmt::format("branch at {:#x} of {}: {:#x} did not come", branch.value,
                                 checker.flow().functions()[function].name, end.value);
  }
  EXPECT_GT(checker.regions, 1000U);
  EXPECT_GT(checker.returns, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Programs, Regions,
                         testing::Values("arithmetic", "bank-static", "containers", "exceptions",
                                         "longjmp", "signals", "text"),
                         [](const auto& subject) {
                           std::string name = subject.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace svd::test
