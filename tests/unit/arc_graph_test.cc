// SPDX-License-Identifier: Apache-2.0
//
// Boost.Graph's algorithms on the dependence graph: what a search backward from an instance reaches
// is its slice, on random runs.

#include "dpdg/arc_graph.h"

#include <gtest/gtest.h>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <functional>
#include <limits>
#include <map>

#include "dpdg/program_model.h"
#include "slicer/backward.h"
#include "support/random_run.h"
#include "support/random_runs.h"
#include "support/reference_graph.h"

namespace svd::test {
namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<ArcGraph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<ArcGraph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<ArcGraph>));

constexpr Seq kEnd{std::numeric_limits<std::uint64_t>::max()};  // and what is behind the last one

using Vertex = ArcGraph::vertex_descriptor;

ArcGraph graph_of(const TraceReader& trace, const ProgramModel& model) {
  std::vector<ArcGraph::Arc> arcs;
  for (const PlainArc& arc : fast_arcs(trace, model, kEnd))
    arcs.push_back({arc.kind, arc.use, arc.def, arc.byte});
  return ArcGraph(std::move(arcs));
}

// Which instruction each instance is of, by seq.
std::vector<Instance> instances_of(const TraceReader& trace, const ProgramModel& model) {
  struct Walk {
    const CodeTable& code;
    std::vector<Instance> instances;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      const Part& part = exec.shape->part;
      for (std::uint16_t i = part.first; i < part.end; ++i)
        instances.push_back({exec.seq + static_cast<std::uint64_t>(i - part.first),
                             code.block(exec.shape->id).steps[i].id, exec.thread});
    }
  } walk{model.code, {}};
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(walk);
    return true;
  });
  return std::move(walk.instances);
}

// How many instances of each instruction `from` follows from, by the arcs of slices.
std::map<InstrId, std::uint64_t> reached(const ArcGraph& graph,
                                         const std::vector<Instance>& instances,
                                         const Instance& from, bool control) {
  std::map<InstrId, std::uint64_t> counts{{from.id, 1}};
  Vertex start = graph.vertex(from.seq);
  if (start == num_vertices(graph) || graph.seq(start) != from.seq) return counts;
  auto followed = [kinds = arc_kinds(graph), control](ArcGraph::edge_descriptor edge) {
    ArcKind kind = get(kinds, edge);
    return kind < ArcKind::kControl || (control && kind == ArcKind::kControl);
  };
  boost::filtered_graph<ArcGraph, std::function<bool(ArcGraph::edge_descriptor)>> part(graph,
                                                                                       followed);
  std::vector<Vertex> found;
  auto note = boost::write_property(get(boost::vertex_index, graph), std::back_inserter(found),
                                    boost::on_discover_vertex());
  boost::breadth_first_search(part, start, boost::visitor(boost::make_bfs_visitor(note)));
  counts.clear();
  for (Vertex vertex : found) ++counts[instances[graph.seq(vertex).value].id];
  return counts;
}

void compare(const TraceReader& trace, std::mt19937_64& random) {
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  ArcGraph graph = graph_of(trace, model);
  std::vector<Instance> instances = instances_of(trace, model);
  if (instances.empty()) return;

  std::vector<Vertex> sorted;
  boost::topological_sort(graph, std::back_inserter(sorted));
  EXPECT_EQ(sorted.size(), num_vertices(graph));

  const Instance& from = instances[random() % instances.size()];
  // A criterion at a restore is followed through memory.
  if (model.code.step_of(from.id).restores) return;
  SliceOptions options{.control = random() % 2 == 0, .races = false};
  Slice slice = slice_backward({trace, model.code, model.control, {}},
                               {{.seq = from.seq, .thread = from.thread}}, options, diagnostics);
  std::map<InstrId, std::uint64_t> sliced;
  for (const SliceItem& item : slice.items) sliced[item.id] = item.instances;
  EXPECT_EQ(sliced, reached(graph, instances, from, options.control)) << "of " << from.seq.value;
}

std::size_t runs() { return random_runs(1000); }

TEST(ArcGraph, WhatIsReachedIsTheSliceOfRandomStatements) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder trace(TraceBuilder::text_process(), random_chunks(random));
    random_statements(trace, random, 2 + random() % 60);
    compare(trace.finish(), random);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ArcGraph, WhatIsReachedIsTheSliceOfRandomMachineCode) {
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder trace(process, random_chunks(random));
    random_machine_run(trace.writer(), random, 2 + random() % 120);
    compare(trace.finish(), random);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ArcGraph, EdgesAreOnceAndByTheirSource) {
  ArcGraph graph({{ArcKind::kMemory, Seq(9), Seq(4), Addr(8)},
                  {ArcKind::kRegister, Seq(9), Seq(2)},
                  {ArcKind::kMemory, Seq(9), Seq(4), Addr(9)},
                  {ArcKind::kControl, Seq(4), Seq(2)}});
  ASSERT_EQ(num_vertices(graph), 3U);
  ASSERT_EQ(num_edges(graph), 3U);
  EXPECT_EQ(out_degree(0, graph), 0U);
  EXPECT_EQ(out_degree(1, graph), 1U);
  EXPECT_EQ(out_degree(2, graph), 2U);
  EXPECT_EQ(graph.arc(*out_edges(1, graph).first).kind, ArcKind::kControl);
  EXPECT_EQ(source(2, graph), 2U);
  EXPECT_EQ(target(2, graph), 1U);
  EXPECT_EQ(graph.arc(2).address, Addr(8));
}

}  // namespace
}  // namespace svd::test
