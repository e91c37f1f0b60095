// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze graph: what the dependence graph of a run consists of, and a part of it as DOT.

#include <fmt/format.h>

#include <array>
#include <set>

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "dpdg/dependences.h"
#include "dpdg/program_model.h"
#include "symbols/source_map.h"

namespace svd::cli {
namespace {

constexpr std::array<std::string_view, kArcKinds> kNames{
    "through registers", "through memory, one thread",         "through memory, between threads",
    "control",           "write after write, between threads", "write after read, between threads"};
constexpr std::array<std::string_view, kArcKinds> kStyles{"color=gray",
                                                          "color=black",
                                                          "color=red,penwidth=2",
                                                          "style=dashed",
                                                          "color=orange,style=dotted",
                                                          "color=blue,style=dotted"};
constexpr Columns kColumns{.addresses = true, .values = false, .events = true};

struct Counts {
  std::array<std::uint64_t, kArcKinds> arcs{};
};

struct Count {
  Counts* counts;
  void operator()(const Arc& arc) { ++counts->arcs[static_cast<std::size_t>(arc.kind)]; }
};

// Arcs from the instructions [first, end).
struct Draw {
  Seq first, end;
  std::vector<Arc>* arcs;
  void operator()(const Arc& arc) {
    if (arc.use.seq >= first && arc.use.seq < end) arcs->push_back(arc);
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

void print_counts(const TraceReader& trace, const Counts& counts, std::uint64_t memory,
                  Output& output) {
  output.write(fmt::format("{:>16}  instructions\n", trace.steps()));
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kArcKinds; ++i) {
    output.write(fmt::format("{:>16}  arcs {}\n", counts.arcs[i], kNames[i]));
    all += counts.arcs[i];
  }
  double steps = static_cast<double>(std::max<std::uint64_t>(trace.steps(), 1));
  output.write(fmt::format("{:>16.2f}  arcs an instruction; none is stored\n",
                           static_cast<double>(all) / steps));
  output.write(fmt::format("{:>16.2f}  bytes of memory an instruction while walking\n",
                           static_cast<double>(memory) / steps));
}

void print_dot(const TraceReader& trace, const ProgramModel& model, const std::vector<Arc>& arcs,
               SourceMap& source, Output& output) {
  output.write("digraph dependences {\n  node [shape=box, fontsize=9];\n");
  std::set<std::pair<std::uint64_t, std::uint32_t>> uses;
  for (const Arc& arc : arcs) uses.emplace(arc.use.seq.value, arc.use.id.value);
  for (auto [seq, id] : uses) {
    const Step& step = model.code.step_of(InstrId(id));
    std::string label;
    if (model.code.block(model.code.home_of(InstrId(id)).block).abstract) {
      label = trace.statements()[step.statement.value].label;
    } else {
      const Frame& frame = source.at(step.pc).frames.front();
      label = fmt::format("{}:{}", frame.function, frame.line);
    }
    std::string escaped;
    for (char c : label)
      escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    output.write(fmt::format("  n{} [label=\"{} {}\"];\n", seq, seq, escaped));
  }
  for (const Arc& arc : arcs)
    output.write(fmt::format("  n{} -> n{} [{}];\n", arc.use.seq.value, arc.def.value,
                             kStyles[static_cast<std::size_t>(arc.kind)]));
  output.write("}\n");
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
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  add_trace(command, input);
  add_count(command.app(), "--first", first, "draw from this instruction on");
  add_count(command.app(), "--count", count, "draw so many instructions, as DOT");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());
  Diagnostics diagnostics = trace->diagnostics();
  ProgramModel model(*trace, diagnostics);
  {
    Progress progress("walking", "instr", trace->steps(), command.quiet());
    if (count != 0) {
      std::vector<Arc> arcs;
      Seq end(first + count);
      walk(*trace, model, Draw{Seq(first), end, &arcs}, end, diagnostics, progress.function());
      SourceMap source(*trace, diagnostics);
      print_dot(*trace, model, arcs, source, *output);
    } else {
      Counts counts;
      Seq end(std::numeric_limits<std::uint64_t>::max());
      std::uint64_t memory =
          walk(*trace, model, Count{&counts}, end, diagnostics, progress.function());
      print_counts(*trace, counts, memory, *output);
    }
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
