// SPDX-License-Identifier: Apache-2.0
#include "analyze/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "dpdg/instance_reader.h"
#include "symbols/source_map.h"

namespace svd::cli {
namespace {

std::string label_of(const TraceReader& trace, const ProgramModel& model,
                     const InstanceFacts& facts, SourceMap& source) {
  if (facts.step == nullptr) return "?";
  if (model.code.block(model.code.home_of(facts.instance.id).block).abstract)
    return trace.statements()[facts.step->statement.value].label;
  const Frame& frame = source.at(facts.step->pc).frames.front();
  if (frame.function.empty()) return fmt::format("{:#x}", facts.step->pc.value);
  return frame.line == 0 ? std::string(frame.function)
                         : fmt::format("{}:{}", frame.function, frame.line);
}

// Arcs between instances of a slice.
struct Draw {
  const Slice& slice;
  const SliceOptions& options;
  std::vector<GraphDrawing::Arc>* arcs;
  void operator()(const Arc& arc) {
    bool wanted = arc.kind == ArcKind::kControl ? options.control : options.data;
    if (wanted && !is_order(arc.kind) && slice.members.has(arc.use.seq) &&
        slice.members.has(arc.def))
      arcs->push_back({arc.kind, arc.use.seq, arc.def, arc.address});
  }
};

}  // namespace

void finish_drawing(const TraceReader& trace, const ProgramModel& model,
                    const std::function<bool(Seq)>& outside, const std::vector<Seq>& more,
                    GraphDrawing& drawing, Diagnostics& diagnostics) {
  auto key = [](const GraphDrawing::Arc& arc) { return std::tuple(arc.use, arc.kind, arc.def); };
  std::stable_sort(drawing.arcs.begin(), drawing.arcs.end(),
                   [key](const auto& a, const auto& b) { return key(a) < key(b); });
  drawing.arcs.erase(std::unique(drawing.arcs.begin(), drawing.arcs.end(),
                                 [key](const auto& a, const auto& b) { return key(a) == key(b); }),
                     drawing.arcs.end());
  std::set<Seq> seqs(more.begin(), more.end());
  for (const GraphDrawing::Arc& arc : drawing.arcs) seqs.insert({arc.use, arc.def});
  InstanceReader instances(trace, model.code, model.control);
  for (Seq seq : seqs) instances.ask(seq);
  Diagnostics told;
  instances.answer(told);
  SourceMap source(trace, diagnostics);
  for (Seq seq : seqs) {
    const InstanceFacts& facts = instances.facts(seq);
    drawing.nodes.push_back(
        {seq, facts.instance.thread, label_of(trace, model, facts, source), outside(seq)});
  }
}

GraphDrawing draw_slice(const TraceReader& trace, const ProgramModel& model, const Slice& slice,
                        const SliceOptions& options, Diagnostics& diagnostics,
                        const ProgressFunction& progress) {
  GraphDrawing drawing;
  std::vector<Seq> members;
  slice.members.each([&members](Seq seq) { members.push_back(seq); });
  Diagnostics told;  // by who made the slice
  walk_arcs(trace, model, Draw{slice, options, &drawing.arcs}, members.back() + 1, told, progress);
  for (const RaceEdge& race : slice.races) {
    ArcKind kind = race.kind == RaceEdge::Kind::kWriteAfterWrite ? ArcKind::kWriteAfterWrite
                                                                 : ArcKind::kWriteAfterRead;
    drawing.arcs.push_back({kind, race.second.seq, race.first.seq, race.address, race.ordered});
  }
  finish_drawing(
      trace, model, [&slice](Seq seq) { return !slice.members.has(seq); }, members, drawing,
      diagnostics);
  return drawing;
}

}  // namespace svd::cli
