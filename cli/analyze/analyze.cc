// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze analyze, and svd-analyze TRACE: everything that is found in a trace.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analyze/text_input.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "detectors/scan.h"
#include "detectors/table.h"
#include "findings/complete.h"
#include "findings/ranking.h"
#include "report/report.h"
#include "svd/trace/nearest.h"

namespace svd::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string format = "text";
  std::vector<const DetectorInfo*> detectors;
  std::vector<std::string> suppressions;
  int error_exitcode = 0;
  bool list_detectors = false;
  bool stats = false;
};

std::vector<const DetectorInfo*> detectors_of(const std::string& list) {
  std::vector<std::string_view> names{"all", "default"};
  for (const DetectorInfo& info : all_detectors()) names.push_back(info.name);
  std::vector<const DetectorInfo*> chosen;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t end = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, end - at);
    at = end + 1;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw CLI::ValidationError("--detectors", fmt::format("'{}' is none{}; see --list-detectors",
                                                            name, did_you_mean(name, names)));
    }
    for (const DetectorInfo& info : all_detectors()) {
      bool wanted = name == info.name || name == "all" || (name == "default" && info.by_default);
      if (wanted && std::find(chosen.begin(), chosen.end(), &info) == chosen.end())
        chosen.push_back(&info);
    }
  }
  return chosen;
}

void add_options(Command& command, Options& options) {
  CLI::App& app = command.app();
  command.example("svd-analyze server.fb", "what went wrong: a report to paste into a ticket");
  command.example("svd-analyze --detectors=race-hb,race-lockset server.fb", "these detectors only");
  command.example("svd-analyze --error-exitcode=1 test.fb",
                  "for CI: fails when there is a finding");
  command.usage("[options] TRACE");
  app.add_option("TRACE", options.input, "the trace file, written by svd-record");
  auto detectors = [&options](const std::string& list) { options.detectors = detectors_of(list); };
  app.add_option_function<std::string>("--detectors", detectors, "names with commas; default, all")
      ->type_name("LIST");
  app.add_flag("--list-detectors", options.list_detectors, "what detectors there are");
  app.add_option("--suppressions", options.suppressions, "more rules for what to leave out")
      ->type_name("FILE");
  app.add_option("--error-exitcode", options.error_exitcode, "exit with N when there are findings")
      ->type_name("N");
  add_output(command, options.output, "write to FILE instead of standard output");
  add_trace_exits(command);
}

int list_detectors(const Command& command, const Options& options) {
  auto output = Output::open(options.output, options.input);
  if (!output) return output_failed(command, output.error());
  for (const DetectorInfo& info : all_detectors()) {
    output->write(fmt::format("{:<14} {:<8} {}\n", info.name, info.by_default ? "default" : "",
                              info.summary));
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  return kSuccess;
}

// The pipeline.
void analyze(const TraceReader& trace, const Options& options, const Suppressions& rules,
             Places& places, bool quiet, Report& report) {
  // One walk of the trace feeds all detectors.
  LockSets lock_sets;
  Scan scan(trace, rules, places, lock_sets);
  std::vector<std::unique_ptr<Detector>> detectors;
  for (const DetectorInfo* info : options.detectors) {
    detectors.push_back(info->make(info->name, scan.threads(), lock_sets));
    scan.add(*detectors.back());
    report.looked.emplace_back(info->name);
  }
  {
    Progress progress("analyzing", "instr", trace.steps(), quiet);
    Chunk chunk;
    for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
      auto decoded = trace.decode(i, chunk, Columns{.values = false});
      if (!decoded) {
        add_lost_chunk(report.diagnostics, trace.chunks()[i], decoded.error());
        continue;
      }
      for (const Event& event : chunk.events) {
        if (const auto* gap = std::get_if<Gap>(&event.body))
          note_gap(event, *gap, report.diagnostics);
      }
      scan.chunk(i, chunk);
      progress.at(chunk.end_seq().value);
    }
  }
  // From here on all that detectors found is known; a second look gives it values and names.
  Source source{trace, scan.moments(), scan.sites(), lock_sets, places};
  for (const auto& detector : detectors) {
    std::vector<Finding> found = complete(source, detector->findings());
    report.findings.insert(report.findings.end(), found.begin(), found.end());
  }
  // The best first.
  rank(report.findings);
}

}  // namespace

int run_analyze(const Arguments& arguments) {
  Command command("svd-analyze analyze", "finds what went wrong in a recorded run, best first");
  Options options;
  options.detectors = detectors_of("default");
  add_options(command, options);
  if (auto exit = command.parse(arguments)) return *exit;
  if (options.list_detectors) return list_detectors(command, options);
  if (options.input.empty()) return command.wrong_use("TRACE is missing; see svd-analyze --help");
  auto trace = open_trace(command, options.input);
  if (!trace) return kUnreadable;
  auto output = Output::open(options.output, options.input);
  if (!output) return output_failed(command, output.error());
  Suppressions rules = Suppressions::built_in();
  Report report{.trace = *trace, .diagnostics = trace->diagnostics()};
  Places places(*trace, report.diagnostics);
  analyze(*trace, options, rules, places, command.quiet(), report);
  print_text(report, Style(command.color(), output->descriptor()), *output);
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  if (options.error_exitcode != 0 && !report.findings.empty()) return options.error_exitcode;
  return exit_code(*trace, report.diagnostics);
}

}  // namespace svd::cli
