// SPDX-License-Identifier: Apache-2.0
//
// Post-dominators of random graphs by the analyser's algorithm, by Boost's, and by the definition.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "cfg/post_dominators.h"
#include "cfg_lengauer_tarjan.h"

namespace svd::test {
namespace {

using ::testing::ElementsAre;

BlockGraph graph_of(const std::vector<std::vector<std::uint32_t>>& successors) {
  BlockGraph graph;
  for (const auto& list : successors) {
    graph.successors.insert(graph.successors.end(), list.begin(), list.end());
    graph.close();
  }
  return graph;
}

// What `from` reaches without passing `without`.
std::set<std::uint32_t> reached(const BlockGraph& graph, std::uint32_t from,
                                std::uint32_t without) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> pending{from};
  while (!pending.empty()) {
    std::uint32_t v = pending.back();
    pending.pop_back();
    if (v == without || !seen.insert(v).second || v == graph.exit()) continue;
    for (std::uint32_t to : graph.of(v)) pending.push_back(to);
  }
  return seen;
}

// By the definition: d post-dominates v when without d no way from v leads to the exit; the
// immediate one is the one that all others post-dominate.
std::vector<std::uint32_t> defined_post_dominators(const BlockGraph& graph) {
  std::vector<std::set<std::uint32_t>> all(graph.size() + 1);
  for (std::uint32_t v = 0; v < graph.size(); ++v) {
    for (std::uint32_t d = 0; d <= graph.exit(); ++d)
      if (d != v && !reached(graph, v, d).contains(graph.exit())) all[v].insert(d);
  }
  std::vector<std::uint32_t> immediate;
  for (std::uint32_t v = 0; v < graph.size(); ++v) {
    for (std::uint32_t d : all[v])
      if (all[d].size() + 1 == all[v].size()) immediate.push_back(d);
  }
  return immediate;
}

class RandomGraphs {
 public:
  explicit RandomGraphs(unsigned seed) : random_(seed) {}

  // As code is: mostly to the next, and back and forth.
  BlockGraph next(std::uint32_t most) {
    std::vector<std::vector<std::uint32_t>> successors(below(most) + 1);
    auto count = static_cast<std::uint32_t>(successors.size());
    for (std::uint32_t v = 0; v < count; ++v) {
      if (below(4) != 0) successors[v].push_back(v + 1);
      for (std::uint32_t more = below(3); more > 0; --more)
        successors[v].push_back(below(4) == 0 ? count : below(count));
      if (successors[v].empty()) successors[v].push_back(below(count + 1));
    }
    return graph_of(successors);
  }

 private:
  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random_);
  }
  std::mt19937 random_;
};

TEST(PostDominators, IfElse) {
  EXPECT_THAT(post_dominators(graph_of({{1, 2}, {3}, {3}, {4}})), ElementsAre(3, 3, 3, 4));
}

TEST(PostDominators, LoopWithTwoExits) {
  // 0: while (1 && 2) 3; 4
  EXPECT_THAT(post_dominators(graph_of({{1}, {2, 4}, {3, 4}, {1}, {5}})),
              ElementsAre(1, 4, 4, 1, 5));
}

TEST(PostDominators, AnEndlessLoopIsLeftInFrontOfItsHead) {
  // 0: if (…) 1; for (;;) if (2) 3; 4 is made.
  BlockGraph graph = graph_of({{1, 2}, {2}, {3, 2}, {2}});
  EXPECT_THAT(tie_endless(graph), ElementsAre(2));
  EXPECT_THAT(post_dominators(graph), ElementsAre(4, 4, 4, 4, 5));
}

TEST(PostDominators, OnlyTheLastOfEndlessLoopsIsTied) {
  BlockGraph graph = graph_of({{0, 1}, {2}, {1}});
  EXPECT_THAT(tie_endless(graph), ElementsAre(1));
  EXPECT_THAT(post_dominators(graph), ElementsAre(3, 2, 3, 4));
}

TEST(PostDominators, AgreeWithTheDefinitionAndWithBoost) {
  RandomGraphs graphs(1);
  for (int i = 0; i < 3000; ++i) {
    BlockGraph graph = graphs.next(12);
    tie_endless(graph);
    auto found = post_dominators(graph);
    ASSERT_EQ(found, defined_post_dominators(graph)) << "graph " << i;
    ASSERT_EQ(found, boost_post_dominators(graph)) << "graph " << i;
  }
}

TEST(PostDominators, AgreeWithBoostOnLargeGraphs) {
  RandomGraphs graphs(2);
  for (int i = 0; i < 300; ++i) {
    BlockGraph graph = graphs.next(2000);
    tie_endless(graph);
    ASSERT_EQ(post_dominators(graph), boost_post_dominators(graph)) << "graph " << i;
  }
}

TEST(PostDominators, EverySetThatIsNeverLeftIsTiedOnce) {
  RandomGraphs graphs(3);
  for (int i = 0; i < 3000; ++i) {
    BlockGraph before = graphs.next(10);
    BlockGraph after = before;
    auto heads = tie_endless(after);
    ASSERT_EQ(after.size(), before.size() + heads.size());
    std::uint32_t none = after.size() + 1;
    for (std::uint32_t v = 0; v < after.size(); ++v)
      ASSERT_TRUE(reached(after, v, none).contains(after.exit())) << "graph " << i;
    for (std::uint32_t head : heads) {
      auto inside = reached(before, head, none);
      ASSERT_FALSE(inside.contains(before.exit())) << "graph " << i;
      for (std::uint32_t other : heads)
        ASSERT_TRUE(other == head || !inside.contains(other)) << "graph " << i;
    }
  }
}

}  // namespace
}  // namespace svd::test
