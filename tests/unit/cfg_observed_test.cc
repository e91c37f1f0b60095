// SPDX-License-Identifier: Apache-2.0
//
// What a run adds to the code: targets of jumps, entries of functions, all code where no file is
// believed.

#include <gtest/gtest.h>

#include <algorithm>

#include "cfg_traced.h"

namespace svd::test {
namespace {

constexpr const char* kAssembly = SVD_CFG_SHAPES "/assembly";

std::uint64_t count(const Diagnostics& diagnostics, std::string_view name) {
  for (const Diagnostic& diagnostic : diagnostics.list())
    if (diagnostic.name == name) return diagnostic.count;
  return 0;
}

class Observed : public ::testing::Test {
 protected:
  Pc end_of(const ControlFlow& flow, const std::string& branch) const {
    return flow.at(Pc(code_.at(branch))).post_dominator;
  }
  Pc label(const std::string& name) const { return Pc(code_.at(name)); }

  Traced code_{kAssembly};
};

TEST_F(Observed, AJumpGoesWhereItWent) {
  for (const char* target : {"computed.0", "computed.2", "computed.0"}) {
    code_.run("computed", 2);
    code_.run(target);
  }
  ControlFlow flow = code_.flow();
  EXPECT_TRUE(flow.at(label("computed.at")).branch);
  EXPECT_EQ(end_of(flow, "computed.at"), label("computed.join"));
  EXPECT_TRUE(flow.at(label("computed.join")).joins);
  EXPECT_EQ(flow.at(label("computed.2")).function, flow.at(label("computed")).function);
}

TEST_F(Observed, AJumpThatAlwaysWentToOnePlaceDecidesNothing) {
  code_.run("computed", 2);
  code_.run("computed.0");
  EXPECT_FALSE(code_.flow().at(label("computed.at")).branch);
}

TEST_F(Observed, ASignalComesBetween) {
  code_.run("computed", 2);
  code_.run("computed.0");
  code_.run("computed", 2);
  code_.event(Signal{.number = 10, .handler = label("if_only")});
  code_.run("computed.2");
  ControlFlow flow = code_.flow();
  EXPECT_FALSE(flow.at(label("computed.at")).branch);
}

TEST_F(Observed, CallsThroughPointersFindFunctions) {
  code_.run("calls_through");
  code_.run("only_run", 2);
  ControlFlow flow = code_.flow();
  EXPECT_EQ(end_of(flow, "only_run.at"), label("only_run.join"));
  std::uint32_t function = flow.at(label("only_run")).function;
  ASSERT_NE(function, kNoFunction);
  EXPECT_EQ(flow.functions()[function].entry, label("only_run"));
}

TEST_F(Observed, RoutinesOfThreadsAreFunctions) {
  code_.event(ThreadCreate{.child = ThreadId(2), .routine = label("only_run")});
  code_.run("only_run", 2);
  ControlFlow flow = code_.flow();
  std::uint32_t function = flow.at(label("only_run.at")).function;
  ASSERT_NE(function, kNoFunction);
  EXPECT_EQ(flow.functions()[function].entry, label("only_run"));
}

TEST_F(Observed, AStrippedFileHasItsFramesStill) {
  code_.module().path = SVD_CFG_SHAPES "/stripped";
  for (Address function : code_.functions()) code_.run(function);
  ControlFlow flow = code_.flow();
  EXPECT_TRUE(code_.diagnostics.list().empty());
  for (const char* name : {"if_else", "while_loop", "distances", "hoisted", "past_prefix", "split",
                           "split.cold", "split_nameless"}) {
    EXPECT_EQ(end_of(flow, std::string(name) + ".at"), label(std::string(name) + ".join")) << name;
  }
  EXPECT_EQ(end_of(flow, "checked.at"), kNoPostDominator);
  EXPECT_EQ(flow.at(label("split")).function, flow.at(label("split.cold")).function);
}

class WithoutFile : public Observed, public ::testing::WithParamInterface<const char*> {
 protected:
  WithoutFile() {
    std::string why = GetParam();
    if (why == "NoFile") code_.module().path = "/nonexistent/assembly";
    if (why == "OtherBuild") code_.module().build_id.back() ^= 1;
    if (why == "NoModule") code_.module().segments.clear();
    if (why == "OtherCode") {
      Block changed = code_.block(code_.at("stop.end"));
      changed.code.front() = 0xc3;
      code_.run(changed);
    }
  }
};

TEST_P(WithoutFile, WhatRanIsKnown) {
  code_.run("if_else", 2);
  code_.run("if_else.at", 3);  // falls through, to the jump
  code_.run(code_.step(code_.at("if_else.at")).target);
  code_.run("if_else.join");
  code_.run("while_loop", 4);  // the loop was not left
  ControlFlow flow = code_.flow();
  EXPECT_EQ(end_of(flow, "if_else.at"), label("if_else.join"));
  EXPECT_EQ(count(code_.diagnostics, "unknown-branch-target"), 1U);
  EXPECT_EQ(end_of(flow, "while_loop.at"), kNoPostDominator);
  EXPECT_TRUE(flow.at(label("while_loop.at")).branch);
  EXPECT_EQ(count(code_.diagnostics, "no-code"),
            std::string_view(GetParam()) == "NoModule" ? 0 : 1);
  EXPECT_FALSE(flow.at(label("if_only.at")).branch);  // did not run
}

INSTANTIATE_TEST_SUITE_P(Because, WithoutFile,
                         ::testing::Values("NoFile", "OtherBuild", "NoModule", "OtherCode"),
                         [](const auto& why) { return std::string(why.param); });

TEST(ControlFlowOfARun, OfStatementsIsEmpty) {
  TraceBuilder trace;
  Var x = trace.var("x");
  trace.thread(1).exec("1.1", {r(x)});
  TraceReader reader = trace.finish();
  Diagnostics diagnostics;
  ControlFlow flow = ControlFlow::of(reader, diagnostics);
  EXPECT_TRUE(flow.functions().empty());
  EXPECT_EQ(flow.at(Pc(0)).function, kNoFunction);
  EXPECT_TRUE(diagnostics.list().empty());
}

TEST(ControlFlowOfARun, SaysWhereCodeWasReplaced) {
  Traced code(kAssembly);
  code.module().segments.clear();
  Block old{.instructions = {{Pc(0x1000), 2}, {Pc(0x1002), 1}}, .code = {0x74, 0x00, 0xc3}};
  Block other{.instructions = {{Pc(0x1000), 1}, {Pc(0x1001), 1}}, .code = {0x90, 0xc3}};
  code.run(old);
  code.run(other);
  code.flow();
  EXPECT_EQ(count(code.diagnostics, "changed-code"), 1U);
}

TEST(ControlFlowOfARun, AModuleThatIsLoadedTwiceIsOne) {
  Traced code(kAssembly);
  code.run("if_else", 2);
  code.load_again();
  code.flow();
  EXPECT_TRUE(code.diagnostics.list().empty());
}

TEST(ControlFlowOfARun, TakesCodeThatIsNone) {
  Traced code(kAssembly);
  code.module().segments.clear();
  Block block{.instructions = {{Pc(0x1000), 2}, {Pc(0x1002), 1}}, .code = {0x06, 0x0f, 0xff}};
  code.run(block);
  ControlFlow flow = code.flow();
  EXPECT_FALSE(flow.at(Pc(0x1000)).branch);
}

}  // namespace
}  // namespace svd::test
