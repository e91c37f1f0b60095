// SPDX-License-Identifier: Apache-2.0
//
// Where the regions of branches end, in each shape of control flow: written in assembly, with
// labels for the ends, and compiled from C, with calls that mark the places.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cfg/module_file.h"
#include "cfg_binary.h"
#include "cfg_traced.h"

namespace svd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Every function of the assembly ran.
class Assembly : public ::testing::Test {
 protected:
  Assembly() {
    for (Address function : code_.functions()) code_.run(function);
    flow_ = code_.flow();
  }

  // The region of the branch at `at` ends at `join`; empty: when the function returns.
  void expect(const std::string& at, const std::string& join) const {
    ControlFlow::Point branch = flow_.at(Pc(code_.at(at)));
    EXPECT_TRUE(branch.branch) << at;
    Pc end = join.empty() ? kNoPostDominator : Pc(code_.at(join));
    EXPECT_EQ(branch.post_dominator, end)
        << fmt::format("{}: {:#x}", at, branch.post_dominator.value);
    if (!join.empty()) {
      EXPECT_TRUE(flow_.at(end).joins) << join;
    }
  }

  std::uint32_t function(const std::string& label) const {
    return flow_.at(Pc(code_.at(label))).function;
  }

  Traced code_{SVD_CFG_SHAPES "/assembly"};
  ControlFlow flow_;
};

TEST_F(Assembly, If) {
  expect("if_else.at", "if_else.join");
  expect("if_only.at", "if_only.join");
  expect("two_returns.at", "");
  expect("short_circuit.a.at", "short_circuit.join");
  expect("short_circuit.b.at", "short_circuit.join");
  expect("short_circuit.c.at", "short_circuit.join");
}

TEST_F(Assembly, Loops) {
  expect("while_loop.at", "while_loop.join");
  expect("break_continue.continue.at", "break_continue.join");
  expect("break_continue.break.at", "break_continue.join");
  expect("break_continue.loop.at", "break_continue.join");
  expect("irreducible.at", "irreducible.loop");
  expect("irreducible.loop.at", "irreducible.join");
  expect("counted.at", "counted.join");
  expect("counted.loop.at", "counted.join");
  expect("endless.outside.at", "endless.head");
  expect("endless.at", "endless.join");
}

TEST_F(Assembly, JumpTables) {
  for (const char* name : {"distances", "hoisted", "spilled", "addresses", "masked", "in_text"})
    expect(std::string(name) + ".at", std::string(name) + ".join");
  expect("distances.range.at", "distances.join");
  expect("spilled.range.at", "spilled.join");
  expect("in_text.range.at", "in_text.join");
  expect("hoisted.loop.at", "hoisted.return");
  EXPECT_FALSE(flow_.at(Pc(code_.at("computed.at"))).branch);  // no run has shown where it goes
}

TEST_F(Assembly, JumpTablesHaveTheirEntriesAndNoMore) {
  CodeOfFile code(SVD_CFG_SHAPES "/assembly");
  auto targets = [&](const std::string& name, const std::vector<std::string>& labels) {
    std::set<Address> expected;
    for (const std::string& label : labels) expected.insert(code_.at(label));
    const auto& found = code.discovery().targets(code_.at(name + ".at"));
    EXPECT_EQ(std::set<Address>(found.begin(), found.end()), expected) << name;
  };
  targets("distances", {"distances.0", "distances.1", "distances.2", "distances.3"});
  targets("hoisted", {"hoisted.0", "hoisted.1", "hoisted.join"});
  targets("spilled", {"spilled.0", "spilled.1"});
  targets("addresses", {"addresses.0", "addresses.1"});
  targets("masked", {"masked.0", "masked.1"});
  targets("in_text", {"in_text.0", "in_text.1"});
  targets("two_tables", {"two_tables.0", "two_tables.1"});
  targets("two_tables.second", {"two_tables.2", "two_tables.3"});
  targets("computed", {});
}

TEST_F(Assembly, CallsInPlaceOfReturns) {
  expect("tail_call.at", "");
  expect("tail_call.conditional.at", "");
  EXPECT_NE(function("tail_call.at"), function("if_else.at"));
  EXPECT_EQ(function("tail_call.at"), function("tail_call.out"));
}

TEST_F(Assembly, CallsThatDoNotReturn) {
  std::set<std::string> names;
  for (const auto& function : flow_.functions())
    if (function.noreturn) names.insert(function.name);
  EXPECT_THAT(names, ElementsAre("endless", "no_handler", "stop", "stops_too"));
  expect("stops_too.at", "stops_too.join");
  expect("checked.at", "");
  expect("checked.second.at", "checked.join");
  expect("handler.at", "handler.join");
}

TEST_F(Assembly, WhatOnlyAssemblersMake) {
  expect("past_prefix.at", "past_prefix.join");
  expect("transaction.at", "transaction.join");
  expect("own_address.at", "own_address.join");
  expect("first_entry.at", "second_entry.middle");
  EXPECT_EQ(function("first_entry.at"), function("second_entry.middle"));
}

TEST_F(Assembly, FragmentsBelongToTheirFunction) {
  expect("split.at", "split.join");
  expect("split.cold.at", "split.cold.join");
  expect("split_nameless.at", "split_nameless.join");
  expect("split_nameless.cold.at", "split_nameless.cold.join");
  for (const char* name : {"split", "split_nameless"}) {
    std::string label(name);
    ASSERT_NE(function(label + ".at"), kNoFunction);
    EXPECT_EQ(function(label + ".at"), function(label + ".cold.at"));
    const auto& merged = flow_.functions()[function(label + ".at")];
    EXPECT_EQ(merged.name, name);
    EXPECT_EQ(merged.entry, Pc(code_.at(name)));
    EXPECT_EQ(merged.ranges.size(), 2U);
  }
}

TEST(ControlFlowOfARun, KnowsFunctionsWithoutSymbols) {
  Traced code(SVD_CFG_SHAPES "/assembly");
  code.run("calls_nameless");
  code.run("nameless", 2);
  ControlFlow flow = code.flow();
  ControlFlow::Point branch = flow.at(Pc(code.at("nameless.at")));
  EXPECT_EQ(branch.post_dominator, Pc(code.at("nameless.join")));
  ASSERT_NE(branch.function, kNoFunction);
  EXPECT_EQ(flow.functions()[branch.function].entry, Pc(code.at("nameless")));
  EXPECT_EQ(flow.functions()[branch.function].name, "");
}

// The compiled functions, in one of their compilations.
class Compiled : public ::testing::TestWithParam<const char*> {
 protected:
  Compiled() : code_(std::string(SVD_CFG_SHAPES "/") + GetParam(), 0x10000000) {
    for (Address function : code_.functions()) code_.run(function);
    flow_ = code_.flow();
  }

  // For each branch of a function: its flow, and which function is called next from where its
  // region ends on; "" when that is the end of the function.
  std::set<std::pair<Flow, std::string>> regions(const std::string& name) {
    std::set<std::pair<Flow, std::string>> result;
    const auto& function = flow_.functions()[flow_.at(Pc(code_.at(name))).function];
    for (const auto& range : function.ranges) {
      for (Pc pc = range.begin; pc < range.end; pc += 1) {
        ControlFlow::Point point = flow_.at(pc);
        if (!point.branch) continue;
        bool joins = point.post_dominator != kNoPostDominator;
        result.emplace(code_.step(pc.value).flow,
                       joins ? next_call(point.post_dominator.value) : "");
      }
    }
    return result;
  }

  // "?" where the way forks before a call.
  std::string next_call(Address at) {
    for (;;) {
      CodeStep step = code_.step(at);
      if (step.flow == Flow::kCall) return called(step.target);
      if (step.flow == Flow::kBranch || step.flow == Flow::kReturn || step.length == 0) return "?";
      at = step.flow == Flow::kJump ? step.target : at + step.length;
    }
  }

  // What the stub at `stub` leads to.
  std::string called(Address stub) {
    auto file = ModuleFile::open(code_.module());
    for (;;) {
      CodeStep step = code_.step(stub);
      if (step.flow == Flow::kIndirectJump) return file->import(step.displacement);
      stub += step.length;
    }
  }

  Traced code_;
  ControlFlow flow_;
};

TEST_P(Compiled, RegionsEndWhereTheSourceSays) {
  auto branch_to = [](const char* name) { return Pair(Flow::kBranch, name); };
  auto switch_to = [](const char* name) { return Pair(Flow::kIndirectJump, name); };
  EXPECT_THAT(regions("c_if_else"), ElementsAre(branch_to("after")));
  EXPECT_THAT(regions("c_while"), ElementsAre(branch_to("after")));
  EXPECT_THAT(regions("c_short_circuit"), ElementsAre(branch_to("after")));
  EXPECT_THAT(regions("c_goto"), ElementsAre(branch_to("after")));
  EXPECT_THAT(regions("c_switch"), ElementsAre(branch_to("after"), switch_to("after")));
  EXPECT_THAT(regions("c_noreturn"), ElementsAre(branch_to(""), branch_to("after")));
}

INSTANTIATE_TEST_SUITE_P(By, Compiled, ::testing::Values("o0.so", "o1.so", "os.so"),
                         [](const auto& binary) { return std::string(binary.param).substr(0, 2); });

}  // namespace
}  // namespace svd::test
