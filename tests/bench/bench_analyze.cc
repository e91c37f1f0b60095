// SPDX-License-Identifier: Apache-2.0
//
// What svd-analyze looks for by default, and all that it can look for, in one pass over recorded
// programs: from the file to findings (code, waits, sharing, detectors, what of the races is
// harmless), with as many processors as there are, and with one. Instructions a second are by the
// processor time of the busiest thread, taking all but the first for one, because what others do on
// the machine counts little then; and by the clock.
//
//   bench_analyze [TRACE...]    default: programs recorded once into the build folder; beside what
//                               recording them and other tools' detectors take
//   bench_analyze --growth      one program, from 10 to 1000 million instructions

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/harmless.h"
#include "detectors/scan.h"
#include "detectors/table.h"
#include "findings/places.h"
#include "recorded.h"
#include "support/one_processor.h"
#include "support/trace_builder.h"

namespace svd::bench {
namespace {

struct Way {
  const char* name;
  bool all = false;  // detectors, not only those that run by default
  bool one_processor = false;
};
constexpr Way kDefault{""}, kOneProcessor{"1 cpu", false, true}, kAll{"all", true};

// Those that are to run; what several tell of is found by one.
std::vector<DetectorInfo> detectors_of(const Way& way, const TraceReader& trace) {
  std::vector<DetectorInfo> chosen;
  for (const DetectorInfo& info : all_detectors()) {
    auto same = [&info](const DetectorInfo& other) { return other.make == info.make; };
    if ((way.all || info.by_default == Default::kYes) &&
        (!info.needs_atomic_blocks || has_atomic_blocks(trace)) &&
        std::none_of(chosen.begin(), chosen.end(), same))
      chosen.push_back(info);
  }
  return chosen;
}

std::uint64_t analyze(const std::string& path, const Way& way) {
  TraceReader trace = open_trace(path);
  Diagnostics diagnostics;
  Places places(trace, diagnostics);
  Rules rules = Rules::built_in();
  LockSets lock_sets;
  Scan scan(trace, rules, places, lock_sets);
  scan.find_waits();
  std::vector<std::unique_ptr<Detector>> detectors;
  std::vector<DetectorInfo> chosen = detectors_of(way, trace);
  DetectorInfo::Setting setting{scan.threads(), lock_sets};
  for (const DetectorInfo& info : chosen) {
    detectors.push_back(info.make(info.name, setting));
    scan.add(*detectors.back());
    if (auto* units = dynamic_cast<UnitDetector*>(detectors.back().get())) setting.units = units;
  }
  scan.walk(Columns{.values = false});
  // As svd-analyze does it: the memory of each before the next one.
  std::vector<std::vector<RawFinding>> found(detectors.size());
  for (std::size_t i = detectors.size(); i-- > 0; detectors.pop_back())
    found[i] = detectors[i]->findings();
  std::uint64_t count = 0;
  std::vector<const RawFinding*> judged;
  for (std::size_t i = 0; i < found.size(); ++i) {
    bool races = chosen[i].told == Told::kHarmful;
    for (const RawFinding& finding : found[i]) {
      if (chosen[i].violations && finding.minor) continue;
      if (races || chosen[i].violations)
        judged.push_back(&finding);
      else
        ++count;
    }
  }
  std::vector<Harm> harms = harm(scan.preparation(), judged);
  return count + judged.size() -
         static_cast<std::uint64_t>(std::count(harms.begin(), harms.end(), Harm::kNone));
}

void print_heading() {
  fmt::print("{:<16}{:>9}{:>10}{:>8}{:>9}{:>10}{:>8}{:>10}{:>9}{:>9}{:>10}\n", "", "Minstr", "",
             "cpu s", "busiest", "Minstr/s", "wall s", "Minstr/s", "peak MB", "B/instr",
             "findings");
}

void print_row(const std::string& path, const Way& way) {
  auto steps = static_cast<double>(open_trace(path).steps());
  Cost cost = measure([&] {
    if (way.one_processor) test::use_one_processor();
    return analyze(path, way);
  });
  fmt::print(
      "{:<16}{:>9.1f}{:>10}{:>8.2f}{:>9.2f}{:>10.1f}{:>8.2f}{:>10.1f}{:>9.0f}{:>9.2f}{:>10}\n",
      std::filesystem::path(path).stem().string(), steps / 1e6, way.name, cost.processor,
      cost.busiest, steps / 1e6 / cost.busiest, cost.wall, steps / 1e6 / cost.wall, cost.megabytes,
      cost.megabytes * 1024 * 1024 / steps, cost.answer);
}

// Tools that run the program themselves.
void print_beside(const Program& program, const char* name, std::vector<std::string> command) {
  for (const std::string& word : command_of(program)) command.push_back(word);
  Cost cost = measure(command);
  fmt::print("{:<16}{:>9}{:>10}{:>8.2f}{:>9}{:>10}{:>8.2f}{:>10}{:>9.0f}\n", program.name, "", name,
             cost.processor, "", "", cost.wall, "", cost.megabytes);
}

void measure_others() {
  test::TempFile trace;
  for (const Program& program : kPrograms) {
    print_beside(program, "record", {SVD_BIN_DIR "/svd-record", "-o", trace.path(), "--"});
    for (const char* tool : {"helgrind", "drd"})
      print_beside(program, tool, {"valgrind", std::string("--tool=") + tool});
  }
}

void measure_growth() {
  for (const char* size : {"12000", "37000", "120000", "370000", "1200000"})
    print_row(recorded({"hash", size}), kDefault);
}

void measure_all(std::vector<std::string> traces) {
  bool ours = traces.empty();
  if (ours)
    for (const Program& program : kPrograms) traces.push_back(recorded(program));
  for (const std::string& trace : traces) {
    for (const Way& way : {kDefault, kOneProcessor, kAll}) print_row(trace, way);
  }
  if (ours) measure_others();
}

}  // namespace
}  // namespace svd::bench

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  svd::bench::print_heading();
  if (words == std::vector<std::string>{"--growth"}) {
    svd::bench::measure_growth();
  } else {
    svd::bench::measure_all(words);
  }
  return 0;
}
