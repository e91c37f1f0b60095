// SPDX-License-Identifier: Apache-2.0
//
// What is told of a dependence graph: counts of the whole, or a drawing of a part.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/output.h"
#include "dpdg/conflicts.h"
#include "dpdg/dependences.h"
#include "svd/trace/diagnostic.h"

namespace svd::cli {

struct GraphCounts {
  std::uint64_t instructions = 0;
  std::array<std::uint64_t, kArcKinds> arcs{};
  ConflictCounts conflicts{};
  std::uint64_t memory_bytes = 0;  // held while walking
};

void print_graph_counts(const GraphCounts& counts, Output& output);
void print_graph_json(const GraphCounts& counts, const Diagnostics& diagnostics, Output& output);

struct GraphDrawing {
  struct Node {
    Seq seq{};
    ThreadId thread{};
    std::string label{};   // what it is an instance of
    bool outside = false;  // of the part that is drawn
  };
  struct Arc {
    ArcKind kind{};
    Seq use{};
    Seq def{};
    Addr address{};        // of arcs through memory
    bool ordered = false;  // of order arcs: by synchronisation
  };
  std::vector<Node> nodes{};  // ascending
  std::vector<Arc> arcs{};    // each once
};

void print_graph_dot(const GraphDrawing& drawing, Output& output);
void print_graph_graphml(const GraphDrawing& drawing, Output& output);

// "register", "write-after-read": in JSON and GraphML.
std::string_view arc_name(ArcKind kind);

}  // namespace svd::cli
