// SPDX-License-Identifier: Apache-2.0
//
// Happens-before and conflict serializability on a generated log of 4 million events: events a
// second, from the imported trace, and from the log as it is. As svd-analyze does it: chunks are
// made a little ahead by a second thread, where there is a second processor.

#include <benchmark/benchmark.h>

#include <fstream>

#include "detectors/declared_atomic.h"
#include "detectors/races.h"
#include "detectors/scan.h"
#include "support/detector_run.h"
#include "support/std_workload.h"
#include "support/trace_builder.h"
#include "svd/trace/copy.h"

namespace svd::test {
namespace {

constexpr std::size_t kEvents = 4'000'000;

const std::string& log_file() {
  static TempFile file;
  static const bool kWritten = [] {
    std::ofstream(file.path()) << std_workload(kEvents, 1);
    return true;
  }();
  SVD_CHECK(kWritten);
  return file.path();
}

const TraceReader& imported() {
  static TempFile file;
  static const TraceReader kTrace = [] {
    auto log = TraceReader::open(log_file());
    SVD_CHECK(log);
    auto writer = TraceWriter::create(file.path(), log->process());
    SVD_CHECK(writer);
    SVD_CHECK(copy_trace(*log, **writer));
    SVD_CHECK((*writer)->finish());
    return open_trace(file);
  }();
  return kTrace;
}

void happens_before(const TraceReader& trace) {
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  RaceDetector races("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
  scan.add(races);
  scan.walk(Columns{.values = false});
  benchmark::DoNotOptimize(races.findings());
}

void serializability(const TraceReader& trace) {
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  DeclaredAtomic atomic("declared-atomic", scan.threads());
  scan.add(atomic);
  scan.walk(Columns{.values = false});
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
  const std::string& path = log_file();
  for (auto _ : state) {
    auto log = TraceReader::open(path);
    SVD_CHECK(log);
    analyze(*log);
  }
  count(state);
}

BENCHMARK(of_trace<happens_before>)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(of_trace<serializability>)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(of_text<happens_before>)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(of_text<serializability>)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace svd::test

BENCHMARK_MAIN();
