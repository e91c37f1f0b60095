// SPDX-License-Identifier: Apache-2.0
//
// STD logs and textual traces: events a second of processor time, on a generated log of 4 million
// events.

#include <benchmark/benchmark.h>

#include <sstream>

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

void count(benchmark::State& state, std::size_t events) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events));
}

void std_scan(benchmark::State& state) {
  std::string_view log = workload();  // made outside the time
  for (auto _ : state) {
    StdScanner scanner(log, "log");
    StdEvent event;
    while (scanner.next(event)) benchmark::DoNotOptimize(event);
    SVD_CHECK(!scanner.error());
  }
  count(state, kEvents);
}
BENCHMARK(std_scan)->Unit(benchmark::kMillisecond);

void std_import(benchmark::State& state) {
  for (auto _ : state) {
    TempFile file;
    SVD_CHECK(import_std(workload(), "log", into(file)));
  }
  count(state, kEvents);
}
BENCHMARK(std_import)->Unit(benchmark::kMillisecond);

void std_export(benchmark::State& state) {
  TempFile file;
  SVD_CHECK(import_std(workload(), "log", into(file)));
  TraceReader trace = open_trace(file);
  for (auto _ : state) {
    std::ostringstream out;
    Diagnostics diagnostics;
    SVD_CHECK(export_std(trace, out, diagnostics));
  }
  count(state, kEvents);
}
BENCHMARK(std_export)->Unit(benchmark::kMillisecond);

void text_print(benchmark::State& state) {
  TempFile file;
  SVD_CHECK(import_std(workload(), "log", into(file)));
  TraceReader trace = open_trace(file);
  for (auto _ : state) benchmark::DoNotOptimize(text_of(trace));
  count(state, kEvents);
}
BENCHMARK(text_print)->Unit(benchmark::kMillisecond);

void text_assemble(benchmark::State& state) {
  TempFile file;
  SVD_CHECK(import_std(workload(), "log", into(file)));
  std::string text = text_of(open_trace(file));
  for (auto _ : state) {
    TempFile copy;
    SVD_CHECK(assemble(text, "text", into(copy)));
  }
  count(state, kEvents);
}
BENCHMARK(text_assemble)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace svd::test

BENCHMARK_MAIN();
