// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze graph: what the dependence graph of a run consists of, or a part of it as a drawing.

#include <algorithm>
#include <array>
#include <limits>

#include "analyze/drawing.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"

namespace svd::cli {
namespace {

struct Options {
  std::string format;
  std::string order = "adjacent";
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool draws() const { return format == "dot" || format == "graphml"; }
};

struct Count {
  std::array<std::uint64_t, kArcKinds>* arcs;
  void operator()(const Arc& arc) { count(arc.kind, 1); }
  void count(ArcKind kind, std::uint64_t n) { (*arcs)[static_cast<std::size_t>(kind)] += n; }
};

// Arcs from the instructions [first, end).
struct Draw {
  Seq first, end;
  bool order;
  std::vector<GraphDrawing::Arc>* arcs;
  void operator()(const Arc& arc) {
    if (arc.use.seq >= first && arc.use.seq < end && (order || !is_order(arc.kind)))
      arcs->push_back({arc.kind, arc.use.seq, arc.def, arc.address});
  }
};

// The model has told what cannot be read.
GraphCounts count(const TraceReader& trace, const ProgramModel& model, bool quiet) {
  GraphCounts counts;
  counts.instructions = trace.steps();
  Diagnostics told;
  {
    Progress progress("walking", "instr", trace.steps(), quiet);
    Seq end(std::numeric_limits<std::uint64_t>::max());
    counts.memory_bytes =
        walk_arcs(trace, model, Count{&counts.arcs}, end, told, progress.function());
  }
  Progress progress("comparing threads", "instr", trace.steps(), quiet);
  counts.conflicts = count_conflicts(trace, model.control.faults(), Sequencers::of(trace, told),
                                     told, progress.function());
  return counts;
}

GraphDrawing draw(const TraceReader& trace, const ProgramModel& model, const Options& options,
                  Diagnostics& diagnostics, bool quiet) {
  GraphDrawing drawing;
  Seq first(options.first), end(options.first + options.count);
  Diagnostics told;
  Progress progress("walking", "instr", trace.steps(), quiet);
  walk_arcs(trace, model, Draw{first, end, options.order != "all", &drawing.arcs}, end, told,
            progress.function());
  if (options.order == "all")
    for (const OrderPair& pair : restore_conflicts(trace, model.control.faults(), first, end, told))
      drawing.arcs.push_back(
          {pair.after_write ? ArcKind::kWriteAfterWrite : ArcKind::kWriteAfterRead, pair.later,
           pair.earlier, pair.address});
  finish_drawing(
      trace, model, [first, end](Seq seq) { return seq < first || seq >= end; }, {}, drawing,
      diagnostics);
  Sequencers sequencers = Sequencers::of(trace, told);
  auto thread = [&drawing](Seq seq) {
    return std::lower_bound(drawing.nodes.begin(), drawing.nodes.end(), seq,
                            [](const auto& node, Seq at) { return node.seq < at; })
        ->thread;
  };
  for (GraphDrawing::Arc& arc : drawing.arcs)
    arc.ordered = is_order(arc.kind) &&
                  sequencers.ordered(thread(arc.def), arc.def, thread(arc.use), arc.use);
  if (options.order == "unordered")
    std::erase_if(drawing.arcs, [](const GraphDrawing::Arc& arc) { return arc.ordered; });
  return drawing;
}

}  // namespace

int run_graph(const Arguments& arguments) {
  Command command("svd-analyze graph", "counts the dependences of a run, or draws a part of them");
  command.example("svd-analyze graph server.fb", "arcs by kind");
  command.example("svd-analyze graph --first=1000 --count=200 server.fb | dot -Tsvg",
                  "a picture of 200 instructions");
  command.usage("[options] TRACE");
  std::string input;
  std::string path;
  Options options;
  add_trace(command, input);
  add_count(command.app(), "--first", options.first, "draw from this instruction on");
  add_count(command.app(), "--count", options.count, "draw so many instructions");
  add_choice(command.app(), "--format", options.format, {"text", "json", "dot", "graphml"},
             "FORMAT", "counts as text or json; a drawing as dot or graphml");
  add_choice(command.app(), "--order", options.order, {"adjacent", "unordered", "all"}, "WHICH",
             "order arcs to draw: adjacent (the default) accesses, of them those that "
             "synchronisation leaves unordered, or all");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  if (options.format.empty()) options.format = options.count == 0 ? "text" : "dot";
  if (options.draws() && options.count == 0)
    return command.wrong_use("a drawing needs --count, the number of instructions to draw");
  if (!options.draws() && options.count != 0)
    return command.wrong_use("--count draws; --format=" + options.format + " counts the whole run");
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());
  Diagnostics diagnostics = trace->diagnostics();
  note_gaps(*trace, diagnostics);
  ProgramModel model(*trace, diagnostics);
  if (options.draws()) {
    GraphDrawing drawing = draw(*trace, model, options, diagnostics, command.quiet());
    (options.format == "dot" ? print_graph_dot : print_graph_graphml)(drawing, *output);
  } else {
    GraphCounts counts = count(*trace, model, command.quiet());
    if (options.format == "json")
      print_graph_json(counts, diagnostics, *output);
    else
      print_graph_counts(counts, *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
