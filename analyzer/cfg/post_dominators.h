// SPDX-License-Identifier: Apache-2.0
//
// Immediate post-dominators of a control flow graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace svd {

// Vertices 0 to size() - 1, each with successors, and the exit behind them, which has none.
struct BlockGraph {
  std::vector<std::uint32_t> first{0};  // vertex v's are successors[first[v]] to [first[v + 1]]
  std::vector<std::uint32_t> successors{};

  std::uint32_t size() const { return static_cast<std::uint32_t>(first.size() - 1); }
  std::uint32_t exit() const { return size(); }
  std::span<const std::uint32_t> of(std::uint32_t vertex) const {
    return std::span(successors).subspan(first[vertex], first[vertex + 1] - first[vertex]);
  }
  // Ends the list of the vertex whose successors were appended last.
  void close() { first.push_back(static_cast<std::uint32_t>(successors.size())); }
};

// Makes an exit for every set of vertices that is never left: a new vertex before the one where a
// depth-first search that begins at vertex 0 gets into the set, the head of an endless loop, from
// which control goes to the head or to the exit. Returns the heads; the first one's new vertex
// has the number that the exit had, the next one's the following, and the exit comes behind them.
std::vector<std::uint32_t> tie_endless(BlockGraph& graph);

// For each vertex the first one, or the exit, that is on all ways from it to the exit, itself
// excluded. The exit must be reachable from everywhere.
std::vector<std::uint32_t> post_dominators(const BlockGraph& graph);

}  // namespace svd
