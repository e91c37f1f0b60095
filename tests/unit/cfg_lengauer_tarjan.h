// SPDX-License-Identifier: Apache-2.0
//
// Immediate post-dominators by Boost.Graph (Lengauer and Tarjan), what those of analyzer/cfg are
// compared with.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <cstdint>
#include <vector>

#include "cfg/post_dominators.h"

namespace svd::test {

// Boost 1.74 gives wrong answers when the root does not reach all vertices: here the root of the
// turned graph is the exit, which must be reachable from everywhere.
inline std::vector<std::uint32_t> boost_post_dominators(const BlockGraph& graph) {
  using Turned = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  std::uint32_t count = graph.size() + 1;
  Turned turned(count);
  for (std::uint32_t v = 0; v < graph.size(); ++v)
    for (std::uint32_t to : graph.of(v)) add_edge(to, v, turned);
  std::vector<std::uint32_t> dominators(count, graph.exit());
  boost::lengauer_tarjan_dominator_tree(
      turned, graph.exit(),
      boost::make_iterator_property_map(dominators.begin(), get(boost::vertex_index, turned)));
  dominators.pop_back();
  return dominators;
}

}  // namespace svd::test
