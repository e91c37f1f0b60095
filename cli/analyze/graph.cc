// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze graph: what the dependence graph of a run consists of, or a part of it as a drawing.

#include "report/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "dpdg/program_model.h"
#include "slicer/instances.h"
#include "symbols/source_map.h"

namespace svd::cli {
namespace {

constexpr Columns kColumns{.addresses = true, .values = false, .events = true};

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

bool is_order(ArcKind kind) {
  return kind == ArcKind::kWriteAfterWrite || kind == ArcKind::kWriteAfterRead;
}

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

template <class Sink>
std::uint64_t walk(const TraceReader& trace, const ProgramModel& model, Sink sink, Seq end,
                   Diagnostics& diagnostics, const ProgressFunction& progress) {
  ControlTracker tracker(model.code, model.flow);
  tracker.set_statements(trace.statements());
  Dependences<Sink> dependences(model.code, std::move(tracker), sink);
  trace.scan(TraceReader::Order::kForward, kColumns, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(dependences);
    progress(chunk.end_seq().value);
    return chunk.end_seq() < end;
  });
  return dependences.memory_bytes();
}

// The model has told what cannot be read.
GraphCounts count(const TraceReader& trace, const ProgramModel& model, bool quiet) {
  GraphCounts counts;
  counts.instructions = trace.steps();
  Diagnostics told;
  {
    Progress progress("walking", "instr", trace.steps(), quiet);
    Seq end(std::numeric_limits<std::uint64_t>::max());
    counts.memory_bytes = walk(trace, model, Count{&counts.arcs}, end, told, progress.function());
  }
  Progress progress("comparing threads", "instr", trace.steps(), quiet);
  counts.conflicts = count_conflicts(trace, Sequencers::of(trace, told), told, progress.function());
  return counts;
}

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

void add_nodes(const TraceReader& trace, const ProgramModel& model, Seq first, Seq end,
               GraphDrawing& drawing, Diagnostics& diagnostics) {
  std::set<Seq> seqs;
  for (const GraphDrawing::Arc& arc : drawing.arcs) seqs.insert({arc.use, arc.def});
  InstanceReader instances(trace, model.code, model.control);
  for (Seq seq : seqs) instances.ask(seq);
  Diagnostics told;
  instances.answer(told);
  SourceMap source(trace, diagnostics);
  for (Seq seq : seqs) {
    const InstanceFacts& facts = instances.facts(seq);
    drawing.nodes.push_back({seq, facts.instance.thread, label_of(trace, model, facts, source),
                             seq < first || seq >= end});
  }
}

GraphDrawing draw(const TraceReader& trace, const ProgramModel& model, const Options& options,
                  Diagnostics& diagnostics, bool quiet) {
  GraphDrawing drawing;
  Seq first(options.first), end(options.first + options.count);
  Diagnostics told;
  Progress progress("walking", "instr", trace.steps(), quiet);
  walk(trace, model, Draw{first, end, options.order != "all", &drawing.arcs}, end, told,
       progress.function());
  if (options.order == "all")
    for (const OrderPair& pair : restore_conflicts(trace, first, end, told))
      drawing.arcs.push_back(
          {pair.after_write ? ArcKind::kWriteAfterWrite : ArcKind::kWriteAfterRead, pair.later,
           pair.earlier, pair.address});
  auto key = [](const GraphDrawing::Arc& arc) { return std::tuple(arc.use, arc.kind, arc.def); };
  std::stable_sort(drawing.arcs.begin(), drawing.arcs.end(),
                   [key](const auto& a, const auto& b) { return key(a) < key(b); });
  drawing.arcs.erase(std::unique(drawing.arcs.begin(), drawing.arcs.end(),
                                 [key](const auto& a, const auto& b) { return key(a) == key(b); }),
                     drawing.arcs.end());
  add_nodes(trace, model, first, end, drawing, diagnostics);
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

// An option that takes one of a few words.
void add_choice(Command& command, const std::string& name, std::string& value,
                const std::vector<std::string>& words, const std::string& type,
                const std::string& what) {
  auto set = [&value, words, name](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end())
      throw CLI::ValidationError(name,
                                 fmt::format("takes {}, not '{}'", fmt::join(words, ", "), word));
    value = word;
  };
  command.app().add_option_function<std::string>(name, set, what)->type_name(type);
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
  add_choice(command, "--format", options.format, {"text", "json", "dot", "graphml"}, "FORMAT",
             "counts as text or json; a drawing as dot or graphml");
  add_choice(command, "--order", options.order, {"adjacent", "unordered", "all"}, "WHICH",
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
