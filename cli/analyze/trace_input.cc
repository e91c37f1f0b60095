// SPDX-License-Identifier: Apache-2.0
//
// Opening, telling and exit codes, once for all verbs.

#include "analyze/trace_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "analyze/truncation_guard.h"
#include "common/exit_codes.h"

namespace svd::cli {

void add_trace(Command& command, std::string& path) {
  command.app()
      .add_option("TRACE", path, "the trace that svd-record wrote, or an STD log")
      ->required();
}

CLI::Option* add_output(Command& command, std::string& path, const std::string& what) {
  return command.app().add_option("-o", path, what)->type_name("FILE");
}

void add_format(Command& command, std::string& format) {
  auto set = [&format](const std::string& name) {
    if (name != "text" && name != "json")
      throw CLI::ValidationError("--format", "takes text or json, not '" + name + "'");
    format = name;
  };
  command.app()
      .add_option_function<std::string>("--format", set, "text or json")
      ->type_name("FORMAT");
}

void add_units(Command& command, bool& paper) {
  auto set = [&paper](const std::string& name) {
    if (name != "default" && name != "paper")
      throw CLI::ValidationError("--cu", "takes default or paper, not '" + name + "'");
    paper = name == "paper";
  };
  command.app()
      .add_option_function<std::string>("--cu", set, "computational units: default, paper")
      ->type_name("WHICH");
}

void add_foreign_format(Command& command) {
  auto check = [](const std::string& format) {
    if (format != "std")
      throw CLI::ValidationError("--format", "the only one so far is std, not '" + format + "'");
  };
  command.app()
      .add_option_function<std::string>("--format", check,
                                        "std: one event a line, THREAD|OPERATION|LOCATION")
      ->type_name("FORMAT")
      ->required();
}

void add_trace_exits(Command& command) {
  command.exit_status(kSuccess, "done");
  command.exit_status(kFailed, "the output could not be written");
  command.exit_status(kUsage, "wrong use");
  command.exit_status(kUnreadable, "TRACE is not a readable trace");
  command.exit_status(kDamaged,
                      "done, but the trace is damaged or incomplete, and the output says how");
}

void add_making_exits(Command& command, const std::string& input) {
  command.exit_status(kSuccess, "written");
  command.exit_status(kFailed, "the trace could not be written");
  command.exit_status(kUsage, "wrong use");
  command.exit_status(kUnreadable, input + " cannot be read, or does not say what it should");
}

std::optional<TraceReader> open_trace(const Command& command, const std::string& path) {
  guard_against_truncation(path);
  auto trace = TraceReader::open(path);
  if (trace) return std::move(*trace);
  command.complain(trace.error().describe());
  return std::nullopt;
}

int output_failed(const Command& command, const Error& error) {
  if (!error.what.empty()) command.complain(error.describe());
  return error.kind == ErrorKind::kUsage ? kUsage : kFailed;
}

int input_failed(const Command& command, const Error& error) {
  command.complain(error.describe());
  return kUnreadable;
}

int making_failed(const Command& command, const Error& error) {
  return error.kind == ErrorKind::kText ? input_failed(command, error)
                                        : output_failed(command, error);
}

void tell(const Command& command, const Diagnostics& diagnostics) {
  Style style(command.color(), STDERR_FILENO);
  for (const Diagnostic& diagnostic : diagnostics.list()) {
    bool grave = diagnostic.severity >= Severity::kLoss;
    if (command.quiet() && !grave) continue;
    std::string severity(to_string(diagnostic.severity));
    std::string times = diagnostic.count > 1 ? fmt::format(" ({})", grouped(diagnostic.count)) : "";
    fmt::print(stderr, "{}: {}{}: {}\n", grave ? style.bad(severity) : style.warning(severity),
               diagnostic.name, times, printable(diagnostic.text));
  }
}

void note_gap(const Event& event, const Gap& gap, Diagnostics& diagnostics) {
  if (gap.cause != GapCause::kLoss) {
    diagnostics.add(to_string(gap.cause), Severity::kInfo, 1, std::string(gap.reason));
    return;
  }
  diagnostics.add(
      "gap", Severity::kLoss, 1,
      fmt::format("something is missing before instruction {}: {}", event.seq.value, gap.reason));
  if (gap.instructions > 0) {
    diagnostics.add("gap-instructions", Severity::kLoss, gap.instructions,
                    "instructions are missing in gaps");
  }
  if (gap.accesses > 0) {
    diagnostics.add("gap-accesses", Severity::kLoss, gap.accesses, "accesses are missing in gaps");
  }
}

void note_gaps(const TraceReader& trace, Diagnostics& diagnostics) {
  Diagnostics told;  // by who reads the run
  trace.scan(TraceReader::Order::kForward, {.addresses = false, .values = false}, told,
             [&diagnostics](const Chunk& chunk) {
               for (const Event& event : chunk.events)
                 if (const auto* gap = std::get_if<Gap>(&event.body))
                   note_gap(event, *gap, diagnostics);
               return true;
             });
}

int exit_code(const TraceReader& trace, const Diagnostics& diagnostics) {
  return trace.complete() && !diagnostics.any_loss() ? kSuccess : kDamaged;
}

}  // namespace svd::cli
