// SPDX-License-Identifier: Apache-2.0
//
// Arcs of the dependence graph, collected from a part of a run, as Boost.Graph takes graphs: a
// VertexListGraph, an EdgeListGraph and an IncidenceGraph whose edges lead from an instance to what
// it follows from. All point back in time, so it has no cycles and ascending vertices are a
// topological order. For parts that people look at: a whole run has more arcs than memory holds.
#pragma once

#include <algorithm>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "dpdg/arc.h"

namespace svd {

class ArcGraph {
 public:
  struct Arc {
    ArcKind kind{};
    Seq use{};
    Seq def{};
    Addr address{};  // of arcs through memory
  };

  // What Boost.Graph asks of a graph's type. Vertices and edges count from 0.
  // NOLINTBEGIN(readability-identifier-naming)
  using vertex_descriptor = std::uint32_t;
  using edge_descriptor = std::uint32_t;
  using vertex_iterator = boost::counting_iterator<vertex_descriptor>;
  using edge_iterator = boost::counting_iterator<edge_descriptor>;
  using out_edge_iterator = edge_iterator;
  using vertices_size_type = std::uint32_t;
  using edges_size_type = std::uint32_t;
  using degree_size_type = std::uint32_t;
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : virtual boost::vertex_list_graph_tag,
                              virtual boost::edge_list_graph_tag,
                              virtual boost::incidence_graph_tag {};
  // NOLINTEND(readability-identifier-naming)
  static vertex_descriptor null_vertex() { return ~vertex_descriptor{0}; }

  // Of the arcs that have kind and both ends in common the first one is kept.
  explicit ArcGraph(std::vector<Arc> arcs);

  // Ascending with the vertex.
  Seq seq(vertex_descriptor vertex) const { return seqs_[vertex]; }
  vertex_descriptor vertex(Seq seq) const {
    auto found = std::lower_bound(seqs_.begin(), seqs_.end(), seq);
    return static_cast<vertex_descriptor>(found - seqs_.begin());
  }
  const Arc& arc(edge_descriptor edge) const { return arcs_[edge]; }

  friend vertices_size_type num_vertices(const ArcGraph& graph) {
    return static_cast<vertices_size_type>(graph.seqs_.size());
  }
  friend edges_size_type num_edges(const ArcGraph& graph) {
    return static_cast<edges_size_type>(graph.arcs_.size());
  }
  friend std::pair<vertex_iterator, vertex_iterator> vertices(const ArcGraph& graph) {
    return {vertex_iterator(0), vertex_iterator(num_vertices(graph))};
  }
  friend std::pair<edge_iterator, edge_iterator> edges(const ArcGraph& graph) {
    return {edge_iterator(0), edge_iterator(num_edges(graph))};
  }
  friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(vertex_descriptor vertex,
                                                                   const ArcGraph& graph) {
    return {edge_iterator(graph.first_[vertex]), edge_iterator(graph.first_[vertex + 1])};
  }
  friend degree_size_type out_degree(vertex_descriptor vertex, const ArcGraph& graph) {
    return graph.first_[vertex + 1] - graph.first_[vertex];
  }
  friend vertex_descriptor source(edge_descriptor edge, const ArcGraph& graph) {
    return graph.vertex(graph.arcs_[edge].use);
  }
  friend vertex_descriptor target(edge_descriptor edge, const ArcGraph& graph) {
    return graph.targets_[edge];
  }
  friend boost::typed_identity_property_map<vertex_descriptor> get(boost::vertex_index_t,
                                                                   const ArcGraph&) {
    return {};
  }

 private:
  std::vector<Seq> seqs_;                   // by vertex
  std::vector<Arc> arcs_;                   // by use, kind and definition
  std::vector<vertex_descriptor> targets_;  // by edge
  std::vector<edge_descriptor> first_;      // by vertex, and the end
};

// The property map of edges for their kinds.
inline auto arc_kinds(const ArcGraph& graph) {
  return boost::make_function_property_map<ArcGraph::edge_descriptor>(
      [&graph](ArcGraph::edge_descriptor edge) { return graph.arc(edge).kind; });
}

}  // namespace svd

// NOLINTBEGIN(readability-identifier-naming)
template <>
struct boost::property_map<svd::ArcGraph, boost::vertex_index_t> {
  using const_type = boost::typed_identity_property_map<svd::ArcGraph::vertex_descriptor>;
  using type = const_type;
};
// NOLINTEND(readability-identifier-naming)
