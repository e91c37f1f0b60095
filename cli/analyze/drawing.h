// SPDX-License-Identifier: Apache-2.0
//
// Drawings of a part of the dependence graph: of a stretch of the run, or of a slice.
#pragma once

#include <functional>

#include "dpdg/program_model.h"
#include "report/graph.h"
#include "slicer/slice.h"

namespace svd::cli {

// Every arc of what runs before `end`.
template <class Sink>
std::uint64_t walk_arcs(const TraceReader& trace, const ProgramModel& model, Sink sink, Seq end,
                        Diagnostics& diagnostics, const ProgressFunction& progress) {
  Dependences<Sink> dependences(trace, model, sink);
  trace.scan(TraceReader::Order::kForward, {.addresses = true, .values = false}, diagnostics,
             [&](const Chunk& chunk) {
               chunk.walk(dependences);
               progress(chunk.end_seq().value);
               return chunk.end_seq() < end;
             });
  return dependences.memory_bytes();
}

inline bool is_order(ArcKind kind) {
  return kind == ArcKind::kWriteAfterWrite || kind == ArcKind::kWriteAfterRead;
}

// Sorts the arcs, each once, and adds their ends and `more` as nodes.
void finish_drawing(const TraceReader& trace, const ProgramModel& model,
                    const std::function<bool(Seq)>& outside, const std::vector<Seq>& more,
                    GraphDrawing& drawing, Diagnostics& diagnostics);

// The instances of a slice with its arcs; its order edges, each by the nearest instances, lead
// outside.
GraphDrawing draw_slice(const TraceReader& trace, const ProgramModel& model, const Slice& slice,
                        const SliceOptions& options, Diagnostics& diagnostics,
                        const ProgressFunction& progress);

}  // namespace svd::cli
