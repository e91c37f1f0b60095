// SPDX-License-Identifier: Apache-2.0
//
// Slices of abstract traces, plainly from the definition (slicing paper, Fig. 2): the whole graph,
// with all order edges, and a search in it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dpdg/program_model.h"
#include "slicer/slice.h"
#include "support/trace_builder.h"

namespace svd::test {

using Pairs = std::set<std::pair<std::string, std::string>>;

// What a slice says, by the labels of statements.
struct Outcome {
  std::map<std::string, std::uint64_t> instances;
  std::map<std::string, float> distances;
  Pairs remote_reads, write_after_write, write_after_read;
  std::set<std::array<std::string, 3>> triples;
};

// The graph of a trace, straight from DESIGN §5: every instance with what it follows from.
struct Graph {
  struct Arc {
    std::size_t to;  // what it follows from; the other way round, what follows from it
    float length;
    bool remote;  // a read of what another thread wrote, or the kernel for it
  };
  struct Vertex {
    std::string label;
    Instance instance{};
    std::vector<Arc> arcs{};
    std::vector<Arc> back{};
    // By other threads: writes before its writes and after its reads, the adjacent ones and all.
    std::set<std::size_t> write_before{}, write_after{};
    std::set<std::size_t> any_write_before{}, any_write_after{};
    // Its thread's last access to what it reads before another thread's write, and that write.
    std::set<std::pair<std::size_t, std::size_t>> changed{};
  };
  std::vector<Vertex> vertices;
};

// Arcs as the options want them.
Graph graph_of(const TraceReader& trace, const ProgramModel& model, const SliceOptions& options);

// The vertices that can be reached from `criterion`, and how far they are: over arcs that lead
// where the scope admits it. A criterion of memory begins with these arcs in place of its own.
using Distances = std::map<std::size_t, float>;
Distances reached(const Graph& graph, std::size_t criterion, const Scope& scope, bool forward,
                  const std::optional<std::vector<Graph::Arc>>& begin = {});

// What is said of these vertices. The criterion has no order edges when it only begins.
Outcome outcome_of(const TraceReader& trace, const Graph& graph, const Distances& slice,
                   std::optional<std::size_t> only_begins, const SliceOptions& options,
                   bool forward);
Outcome outcome_of(const TraceReader& trace, const ProgramModel& model, const Slice& slice);

std::string describe(const Outcome& outcome);

}  // namespace svd::test
