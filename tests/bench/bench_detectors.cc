// SPDX-License-Identifier: Apache-2.0
//
// Happens-before and conflict serializability on a generated log of 4 million events: events a
// second of processor time, from the imported trace, and with the import of the text.

#include <benchmark/benchmark.h>

#include "detectors/declared_atomic.h"
#include "detectors/races.h"
#include "detectors/scan.h"
#include "support/detector_run.h"
#include "support/std_workload.h"
#include "support/trace_builder.h"
#include "svd/trace/std_log.h"

namespace svd::test {
namespace {

constexpr std::size_t kEvents = 4'000'000;

const std::string& workload() {
  static const std::string kLog = std_workload(kEvents, 1);
  return kLog;
}

const TraceReader& imported() {
  static TempFile file;
  static const TraceReader kTrace = [] {
    SVD_CHECK(import_std(workload(), "log", into(file)));
    return open_trace(file);
  }();
  return kTrace;
}

void walk(const TraceReader& trace, Detector& detector, Scan& scan) {
  scan.add(detector);
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
    SVD_CHECK(trace.decode(i, chunk, Columns{.values = false}));
    scan.chunk(i, chunk);
  }
}

void happens_before(const TraceReader& trace) {
  Suppressions rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  RaceDetector races("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
  walk(trace, races, scan);
  benchmark::DoNotOptimize(races.findings());
}

void serializability(const TraceReader& trace) {
  Suppressions rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  DeclaredAtomic atomic("declared-atomic", scan.threads());
  walk(trace, atomic, scan);
  benchmark::DoNotOptimize(atomic.findings());
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
}

template <auto analyze>
void of_trace(benchmark::State& state) {
  const TraceReader& trace = imported();
  for (auto _ : state) analyze(trace);
  count(state);
}

template <auto analyze>
void of_text(benchmark::State& state) {
  std::string_view log = workload();
  for (auto _ : state) {
    TempFile file;
    SVD_CHECK(import_std(log, "log", into(file)));
    analyze(open_trace(file));
  }
  count(state);
}

BENCHMARK(of_trace<happens_before>)->Unit(benchmark::kMillisecond);
BENCHMARK(of_trace<serializability>)->Unit(benchmark::kMillisecond);
BENCHMARK(of_text<happens_before>)->Unit(benchmark::kMillisecond);
BENCHMARK(of_text<serializability>)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace svd::test

BENCHMARK_MAIN();
