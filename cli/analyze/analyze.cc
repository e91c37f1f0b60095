// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze analyze, and svd-analyze TRACE: everything that is found in a trace.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "analyze/judging.h"
#include "analyze/text_input.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "detectors/scan.h"
#include "detectors/table.h"
#include "findings/complete.h"
#include "findings/ranking.h"
#include "findings/suppress.h"
#include "report/report.h"
#include "slicer/explain.h"
#include "slicer/nearness.h"
#include "svd/trace/chunk_stream.h"
#include "svd/trace/nearest.h"
#include "svd/trace/processors.h"

namespace svd::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string format = "text";
  std::vector<Chosen> detectors;
  std::vector<std::string> suppressions;
  std::vector<std::string> annotations;
  int error_exitcode = 0;
  bool paper_units = false;
  bool gen_suppressions = false;
  bool list_detectors = false;
  bool stats = false;
};

std::vector<Chosen> detectors_of(const std::string& list) {
  std::vector<std::string_view> names{"all", "default"};
  for (const DetectorInfo& info : all_detectors()) names.push_back(info.name);
  std::vector<Chosen> chosen;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t end = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, end - at);
    at = end + 1;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw CLI::ValidationError("--detectors", fmt::format("'{}' is none{}; see --list-detectors",
                                                            name, did_you_mean(name, names)));
    }
    for (const DetectorInfo& info : all_detectors()) {
      bool asked = name == info.name || name == "all";
      bool wanted = name == "default" && info.by_default != Default::kNo;
      if (!asked && !wanted) continue;
      bool on_slice = !asked && info.by_default == Default::kOnSlice;
      auto known = std::find_if(chosen.begin(), chosen.end(),
                                [&info](const Chosen& other) { return other.info == &info; });
      if (known == chosen.end()) {
        chosen.push_back({&info, asked, on_slice});
      } else {
        known->asked = known->asked || asked;
        known->on_slice = known->on_slice && on_slice;
      }
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
  app.add_option("TRACE", options.input, "the trace that svd-record wrote, or an STD log");
  auto detectors = [&options](const std::string& list) { options.detectors = detectors_of(list); };
  app.add_option_function<std::string>("--detectors", detectors, "names with commas; default, all")
      ->type_name("LIST");
  app.add_flag("--list-detectors", options.list_detectors, "what detectors there are");
  add_units(command, options.paper_units);
  // Each time one file: what comes after it is the trace.
  app.add_option("--suppressions", options.suppressions, "more rules for what to leave out")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--gen-suppressions", options.gen_suppressions,
               "print rules that would leave out the findings");
  app.add_option("--annotations", options.annotations, "rules for what synchronises")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_format(command, options.format);
  app.add_option("--error-exitcode", options.error_exitcode, "exit with N when there are findings")
      ->type_name("N");
  app.add_flag("--stats", options.stats, "what each pass took, on stderr");
  add_output(command, options.output, "write to FILE instead of standard output");
  add_trace_exits(command);
}

int list_detectors(const Command& command, const Options& options) {
  auto output = Output::open(options.output, options.input);
  if (!output) return output_failed(command, output.error());
  for (const DetectorInfo& info : all_detectors()) {
    std::string_view runs = info.by_default == Default::kYes       ? "default"
                            : info.by_default == Default::kOnSlice ? "on slice"
                                                                   : "";
    output->write(fmt::format("{:<14} {:<8} {}\n", info.name, runs, info.summary));
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  return kSuccess;
}

// Rules that are built in, and those of the files; nothing when one of them is wrong.
std::optional<Rules> rules_of(const Command& command, const Options& options) {
  Rules rules = Rules::built_in();
  auto add = [&command](const std::vector<std::string>& paths, auto& to) {
    return std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
      auto text = TextInput::open(path);
      Status added = text ? to.add(text->text(), path) : Status(text.error());
      if (!added) command.complain(added.error().describe());
      return static_cast<bool>(added);
    });
  };
  bool right = add(options.suppressions, rules.suppressions);
  if (!right || !add(options.annotations, rules.annotations)) return std::nullopt;
  return rules;
}

// Rules of the user that nothing was meant by.
void tell_unused(const std::vector<Annotations::Use>& annotations, Places& places,
                 Diagnostics& diagnostics) {
  std::vector<std::string> unused;
  for (const Annotations::Use& use : annotations) {
    if (use.count == 0)
      unused.push_back(use.rule +
                       did_you_mean(use.variable, std::array{places.variable_like(use.variable)}));
  }
  if (unused.empty()) return;
  diagnostics.add("unused-annotations", Severity::kInfo, unused.size(),
                  fmt::format("nothing in this run is meant by {}", fmt::join(unused, ", ")));
}

// The times of passes, told as they end.
class Stats {
 public:
  Stats(bool wanted, std::uint64_t instructions) : wanted_(wanted), instructions_(instructions) {}

  void pass(std::string_view name) {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    if (!wanted_) return;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(stderr, "{:<10} {:>9.3f} s {:>9.1f} Minstr/s {:>7} MB peak\n", name, seconds,
               static_cast<double>(instructions_) / 1e6 / std::max(seconds, 1e-9),
               usage.ru_maxrss / 1024);
  }

 private:
  bool wanted_;
  std::uint64_t instructions_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void walk(const TraceReader& trace, Scan& scan, bool quiet, Report& report) {
  Progress progress("analyzing", "instr", trace.steps(), quiet);
  ChunkStream stream(trace, TraceReader::Order::kForward, Columns{.values = false});
  while (const ChunkStream::Decoded* next = stream.next(report.diagnostics)) {
    for (const Event& event : next->chunk.events) {
      if (const auto* gap = std::get_if<Gap>(&event.body))
        note_gap(event, *gap, report.diagnostics);
    }
    scan.chunk(next->index, next->chunk);
    progress.at(next->chunk.end_seq().value);
  }
}

bool is_for_slice(const Finding& finding, const std::vector<Chosen>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(), [&finding](const Chosen& one) {
    return one.on_slice && one.info->name == finding.detectors.front();
  });
}

// What was found, and the failure, are explained from one model of the run. Its parts point to each
// other.
struct Explained {
  std::optional<Explainer> explainer{};              // when there is something to explain
  std::optional<Result<Explanation>> explanation{};  // of the failure, if the run failed
};

// Makes the model once it is known that there is something to explain: beside what else is to be
// done until it is asked for, where this process may use a second processor.
class Modelling {
 public:
  Modelling(const TraceReader& trace, Scan& scan) : trace_(trace), scan_(scan) {}

  void begin() {
    if (model_.valid()) return;
    Preparation known = scan_.preparation();
    model_ = beside([this, flow = known.flow.get(), code = known.code.get()]() mutable {
      Diagnostics lost;  // the walk has told of the same
      return std::make_unique<ProgramModel>(trace_, std::move(flow), std::move(code), lost);
    });
  }
  void finish(Diagnostics& diagnostics, Explained& explained) {
    if (model_.valid()) explained.explainer.emplace(trace_, model_.get(), diagnostics);
  }

 private:
  const TraceReader& trace_;
  Scan& scan_;
  std::future<std::unique_ptr<ProgramModel>> model_;
};

// Says where on the slice findings lie. What nobody asked for goes unless it led to the failure.
void mark(Explained& explained, const std::vector<Chosen>& chosen, std::vector<Finding>& findings) {
  std::optional<Nearness> nearness;
  if (*explained.explanation)
    nearness.emplace((*explained.explanation)->slice, explained.explainer->story_input());
  std::erase_if(findings, [&](Finding& finding) {
    bool whole = is_for_slice(finding, chosen);
    if (nearness) {
      finding.nearness = whole ? nearness->whole(finding) : nearness->of(finding);
      finding.on_slice = finding.nearness.has_value();
    }
    return whole && !finding.nearness;
  });
}

// Of findings that nobody asked for, how many are told: slices of failures go back far.
constexpr std::size_t kMostOnSlice = 3;

void keep_nearest(const std::vector<Chosen>& chosen, Report& report) {
  std::size_t count = 0;
  std::erase_if(report.findings, [&](const Finding& finding) {
    return is_for_slice(finding, chosen) && ++count > kMostOnSlice;
  });
  if (count > kMostOnSlice) {
    report.diagnostics.add("minor-findings", Severity::kInfo, count - kMostOnSlice,
                           "more that led to the failure and may well be meant so; "
                           "--detectors=default,svd-2pl-minor,svd-log shows all");
  }
}

// The pipeline.
void analyze(const TraceReader& trace, const Options& options, const Rules& rules, Places& places,
             bool quiet, Explained& explained, Report& report) {
  Stats stats(options.stats, trace.steps());
  // One walk of the trace feeds all detectors.
  LockSets lock_sets;
  Scan scan(trace, rules, places, lock_sets);
  // Flags and barriers that the program made itself are synchronisation as any other.
  if (std::uint64_t loops = scan.find_waits()) {
    report.diagnostics.add("waits", Severity::kInfo, loops,
                           "places where a loop waits for another thread: what they read is taken "
                           "as synchronisation");
  }
  stats.pass("waits");
  std::vector<Running> detectors;
  DetectorInfo::Setting setting{scan.threads(), lock_sets};
  for (const Chosen& chosen : options.detectors) {
    const DetectorInfo& info = *chosen.info;
    if (info.needs_atomic_blocks && !has_atomic_blocks(trace)) continue;
    if (chosen.on_slice && !failed(trace)) continue;
    bool paper = options.paper_units && info.make_paper != nullptr;
    auto make = paper ? info.make_paper : info.make;
    auto same = std::find_if(detectors.begin(), detectors.end(),
                             [make](const Running& other) { return other.make == make; });
    if (same == detectors.end()) {
      same = detectors.insert(same, {make, make(info.name, setting)});
      scan.add(*same->detector);
      auto* units = dynamic_cast<UnitDetector*>(same->detector.get());
      if (units != nullptr && paper == options.paper_units) setting.units = units;
    }
    same->tellers.push_back(&chosen);
    report.looked.emplace_back(info.name);
  }
  walk(trace, scan, quiet, report);
  report.statistics.emplace_back("accesses", scan.accesses());
  stats.pass("detect");
  // From here on all that detectors found is known; a second look gives it values and names.
  Modelling modelling(trace, scan);
  if (failed(trace)) modelling.begin();
  Collection collection(detectors, [&modelling] { modelling.begin(); });
  judge_harm(detectors, options.paper_units, scan);
  collection.finish();
  std::vector<RawFinding> found;
  for (Running& running : detectors) {
    std::vector<std::vector<RawFinding>> raw;
    for (const Chosen* teller : running.tellers)
      raw.push_back(told(*teller, running, failed(trace), report.diagnostics));
    judge_units(running, scan, raw);
    for (std::vector<RawFinding>& one : raw)
      std::move(one.begin(), one.end(), std::back_inserter(found));
  }
  stats.pass("judge");
  if (!found.empty()) modelling.begin();
  modelling.finish(report.diagnostics, explained);
  stats.pass("model");
  if (!found.empty()) {
    InstanceReader& instances = explained.explainer->story_input().instances;
    Source source{trace,        explained.explainer->model().code,
                  instances,    scan.moments(),
                  scan.sites(), lock_sets,
                  places};
    report.findings = complete(source, found, report.diagnostics);
  }
  stats.pass("complete");
  // If the run failed, what lies on the way to the failure is told from the rest.
  if (failed(trace)) {
    explained.explanation = explained.explainer->explain("fault", {});
    mark(explained, options.detectors, report.findings);
    if (!*explained.explanation) {
      report.diagnostics.add("no-slice", Severity::kError, 1,
                             explained.explanation->error().describe());
    }
    stats.pass("slice");
  }
  // What detectors could not look at; the slice looks at the same, and may have told it.
  std::vector<Diagnostic> told_of = report.diagnostics.list();
  for (const Diagnostic& d : scan.diagnostics().list()) {
    if (std::none_of(told_of.begin(), told_of.end(),
                     [&d](const Diagnostic& other) { return other.name == d.name; }))
      report.diagnostics.add(d.name, d.severity, d.count, d.text);
  }
  // What the user does not want to hear of goes; the best of the rest comes first.
  report.suppressed = suppress(rules.suppressions, report.findings);
  report.suppressions = rules.suppressions.uses();
  report.annotations = rules.annotations.uses();
  tell_unused(report.annotations, places, report.diagnostics);
  rank(report.findings);
  keep_nearest(options.detectors, report);
  stats.pass("rank");
  if (!trace.ending().thread) return;
  report.last_place = failed(trace)
                          ? last_own_place(trace, explained.explainer->story_input().instances,
                                           places, report.diagnostics)
                          : last_place(trace, places);
}

}  // namespace

std::optional<bool> analyze_takes_value(const std::string& word) {
  Command command("svd-analyze analyze", "");
  Options options;
  add_options(command, options);
  const CLI::Option* option = command.app().get_option_no_throw(word.substr(0, word.find('=')));
  if (option == nullptr || option->get_positional()) return std::nullopt;
  return word.find('=') == std::string::npos && option->get_items_expected_min() > 0;
}

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
  auto rules = rules_of(command, options);
  if (!rules) return kUsage;
  Report report{.trace = *trace, .diagnostics = trace->diagnostics()};
  Places places(*trace, report.diagnostics);
  Explained explained;
  analyze(*trace, options, *rules, places, command.quiet(), explained, report);
  std::optional<SliceReport> slice;
  if (explained.explanation && *explained.explanation) {
    slice.emplace(SliceReport{*trace, explained.explainer->source(), **explained.explanation});
    report.slice = &*slice;
  }
  if (options.gen_suppressions) {
    print_suppressions(report, *output);
  } else if (options.format == "json") {
    print_json(report, *output);
  } else {
    print_text(report, Style(command.color(), output->descriptor()), *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  if (options.error_exitcode != 0 && !report.findings.empty()) return options.error_exitcode;
  return exit_code(*trace, report.diagnostics);
}

}  // namespace svd::cli
