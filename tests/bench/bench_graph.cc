// SPDX-License-Identifier: Apache-2.0
//
// The dependence graph measured on recorded programs, everything side by side in one run: verified
// decode, the walk that derives every arc (registers, memory, control, conflicts between threads)
// with one thread and with decoding ahead in another, all that comes before it, and slices. Every
// figure is the best of three processes of its own, so that its peak memory is its own too.
// Instructions a second are by the processor time of the busiest thread: what others do on the
// machine counts little.
//
//   bench_graph [TRACE...]     default: programs recorded once into the build folder

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "dpdg/dependences.h"
#include "dpdg/program_model.h"
#include "recorded.h"
#include "slicer/backward.h"
#include "support/one_processor.h"
#include "svd/trace/reader.h"
#include "symbols/source_map.h"

namespace svd::bench {
namespace {

constexpr Columns kColumns{.addresses = true, .values = false};

std::uint64_t decode(const TraceReader& trace, const Columns& columns) {
  Diagnostics diagnostics;
  std::uint64_t execs = 0;
  trace.scan(TraceReader::Order::kForward, columns, diagnostics, [&](const Chunk& chunk) {
    execs += chunk.execs.size();
    return true;
  });
  return execs;
}

using Arcs = std::array<std::uint64_t, kArcKinds>;

struct Count {
  Arcs* arcs;
  void operator()(const Arc& arc) { count(arc.kind, 1); }
  void count(ArcKind kind, std::uint64_t n) { (*arcs)[static_cast<std::size_t>(kind)] += n; }
};

// Takes every arc for itself.
struct Each {
  Arcs* arcs;
  void operator()(const Arc& arc) {
    ++(*arcs)[static_cast<std::size_t>(arc.kind)];
    benchmark::DoNotOptimize(arc);
  }
};

template <class Sink>
std::uint64_t graph(const TraceReader& trace, const ProgramModel& model) {
  Diagnostics diagnostics;
  Arcs arcs{};
  Dependences<Sink> dependences(trace, model, Sink{&arcs});
  trace.scan(TraceReader::Order::kForward, kColumns, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(dependences);
    return true;
  });
  return std::accumulate(arcs.begin(), arcs.end(), std::uint64_t{0});
}

std::uint64_t whole_graph(const std::string& path) {
  TraceReader trace = open_trace(path);
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  return graph<Count>(trace, model);
}

// What the kernel read last: what the program wrote as its output.
Criterion last_output(const TraceReader& trace) {
  struct Walk {
    Criterion criterion{.values = false, .addresses = false};
    void exec(const Exec&) {}
    void event(const Event& event) {
      const auto* kernel = std::get_if<KernelAccess>(&event.body);
      if (kernel == nullptr || kernel->access != Access::kRead) return;
      criterion.seq = event.seq - 1;
      criterion.thread = event.thread;
      criterion.memory = {{kernel->address, kernel->size}};
    }
  } walk;
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, {.addresses = false, .values = false}, diagnostics,
             [&walk](const Chunk& chunk) {
               chunk.walk(walk);
               return true;
             });
  return walk.criterion;
}

std::uint64_t slice(const TraceReader& trace, const ProgramModel& model, const Criterion& criterion,
                    const SliceOptions& options) {
  Diagnostics diagnostics;
  return slice_backward({trace, model.code, model.control, {}}, {criterion}, options, diagnostics)
      .instances;
}

std::uint64_t whole_slice(const std::string& path, const Criterion& criterion) {
  TraceReader trace = open_trace(path);
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  return slice(trace, model, criterion, {});
}

void measure_trace(const std::string& path) {
  TraceReader trace = open_trace(path);
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  auto steps = static_cast<double>(trace.steps());
  fmt::print("{}, {:.0f} million instructions, {} threads, {} MB\n",
             std::filesystem::path(path).stem().string(), steps / 1e6, trace.threads().size(),
             trace.file_bytes() >> 20);
  fmt::print("  {:<36}{:>8}{:>9}{:>8}{:>10}{:>9}{:>9}\n", "", "cpu s", "busiest", "wall s",
             "Minstr/s", "peak MB", "B/instr");
  auto row = [steps](const char* name, const char* unit, const Work& work) {
    Cost cost = measure(work);
    fmt::print("  {:<36}{:>8.2f}{:>9.2f}{:>8.2f}{:>10.1f}{:>9.0f}{:>9.2f}   {} {}\n", name,
               cost.processor, cost.busiest, cost.wall, steps / 1e6 / cost.busiest, cost.megabytes,
               cost.megabytes * 1024 * 1024 / steps, cost.answer, unit);
  };
  row("verified decode", "executions", [&] { return decode(trace, {}); });
  row("same without values", "executions", [&] { return decode(trace, kColumns); });
  row("model: code, control flow, restores", "instructions",
      [&] { return ProgramModel(trace, diagnostics).code.instr_count(); });
  row("graph", "arcs", [&] { return graph<Count>(trace, model); });
  row("graph, one processor", "arcs", [&] {
    test::use_one_processor();
    return graph<Count>(trace, model);
  });
  row("graph, each arc by itself", "arcs", [&] { return graph<Each>(trace, model); });
  row("from the file to the graph", "arcs", [&] { return whole_graph(path); });
  row("same, one processor", "arcs", [&] {
    test::use_one_processor();
    return whole_graph(path);
  });
  Criterion criterion = last_output(trace);
  row("slice of the last output", "instances", [&] { return slice(trace, model, criterion, {}); });
  row("same, one processor", "instances", [&] {
    test::use_one_processor();
    return slice(trace, model, criterion, {});
  });
  row("from the file to that slice", "instances", [&] { return whole_slice(path, criterion); });
  row("slice of data only", "instances",
      [&] { return slice(trace, model, criterion, {.control = false, .races = false}); });
}

}  // namespace
}  // namespace svd::bench

int main(int argc, char** argv) {
  std::vector<std::string> traces(argv + 1, argv + argc);
  if (traces.empty())
    for (const svd::bench::Program& program : svd::bench::kPrograms)
      traces.push_back(svd::bench::recorded(program));
  for (const std::string& trace : traces) svd::bench::measure_trace(trace);
  return 0;
}
