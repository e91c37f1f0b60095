// SPDX-License-Identifier: Apache-2.0
//
// Which loops only wait: as several degrees of optimisation compile them, told apart by the names
// of their functions.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "cfg_traced.h"

namespace svd::test {
namespace {

class WaitLoops : public ::testing::TestWithParam<const char*> {
 protected:
  WaitLoops() {
    for (Address function : code_.functions()) code_.run(function);
    flow_ = code_.flow();
  }

  Traced code_{std::string(SVD_CFG_WAITS) + "/" + GetParam()};
  ControlFlow flow_;
};

TEST_P(WaitLoops, AreThoseThatOnlyAnotherThreadEnds) {
  std::set<std::string> waiting;
  for (const WaitLoop& loop : flow_.wait_loops()) {
    EXPECT_FALSE(loop.reads.empty());
    waiting.insert(flow_.functions()[loop.function].name);
  }
  std::size_t looked = 0;
  for (const ControlFlow::Function& function : flow_.functions()) {
    bool waits = function.name.starts_with("waits_");
    if (!waits && !function.name.starts_with("works_")) continue;
    ++looked;
    EXPECT_EQ(waiting.count(function.name) == 1, waits) << function.name;
  }
  EXPECT_EQ(looked, 13U);
}

// Compiled for speed it tests once before the loop, by a load of its own.
TEST_P(WaitLoops, HaveGuards) {
  if (std::string(GetParam()) != "o1.so" && std::string(GetParam()) != "o2.so") return;
  for (const WaitLoop& loop : flow_.wait_loops()) {
    if (flow_.functions()[loop.function].name != "waits_with_yield") continue;
    auto outside = [&](Pc pc) {
      return std::none_of(loop.blocks.begin(), loop.blocks.end(),
                          [pc](const auto& b) { return b.begin <= pc && pc <= b.last; });
    };
    EXPECT_EQ(std::count_if(loop.reads.begin(), loop.reads.end(), outside), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, WaitLoops, ::testing::Values("o0.so", "o1.so", "o2.so", "os.so"),
                         [](const auto& binary) { return std::string(binary.param).substr(0, 2); });

}  // namespace
}  // namespace svd::test
