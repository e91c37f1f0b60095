// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze reduce: a trace of the thread execution intervals that matter to a slice.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "analyze/new_trace.h"
#include "analyze/slice_options.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "slicer/explain.h"
#include "slicer/reduction.h"

namespace svd::cli {
namespace {

using Json = nlohmann::ordered_json;

Result<TraceReader> write_reduced(const TraceReader& trace, const Reduction& reduction,
                                  NewTrace& made) {
  auto writer = made.create(trace.process());
  if (!writer) return writer.error();
  auto copied = copy_trace(trace, **writer, no_progress, reduction.filter());
  if (!copied) return copied.error();
  if (auto finished = (*writer)->finish(); !finished) return finished.error();
  return TraceReader::open(made.place());
}

Json counts_json(const ReductionCounts& counts) {
  return {{"threads", counts.threads},
          {"intervals", counts.intervals},
          {"instructions", counts.instructions}};
}

void print_text(const Reduction& reduction, Seq begins, Output& output) {
  auto row = [&output](std::string_view name, const ReductionCounts& counts) {
    output.write(fmt::format("{:8}{:>10}{:>12}{:>16}\n", name, counts.threads,
                             grouped(counts.intervals), grouped(counts.instructions)));
  };
  output.write(fmt::format("{:8}{:>10}{:>12}{:>16}\n", "", "threads", "intervals", "instructions"));
  row("before", reduction.before());
  row("after", reduction.after());
  output.write(fmt::format("The slice begins at its instruction {}.\n", begins.value));
}

}  // namespace

int run_reduce(const Arguments& arguments) {
  Command command("svd-analyze reduce", "makes a trace of just what matters to a failure");
  command.example("svd-analyze reduce server.fb -o small.fb", "what the crash follows from");
  command.example("svd-analyze slice small.fb", "the same slice, of a smaller trace");
  command.usage("[options] TRACE [CRITERION] -o FILE");
  command.remark(
      "Kept are the intervals, each what one thread executed until another one did, that hold an\n"
      "instance of the slice, or the other end of an order edge. The new trace is sliced and\n"
      "compared; where that would differ, more is kept.");
  explain_criteria(command);
  std::string input;
  std::string path;
  std::string criterion = "fault";
  std::string format = "text";
  add_trace(command, input);
  command.app().add_option("CRITERION", criterion, "what to slice from; see below");
  add_format(command, format);
  add_output(command, path, "the trace to write")->required();
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  if (path == "-") return command.wrong_use("-o takes a file: what is written is read again");
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;

  Diagnostics diagnostics = trace->diagnostics();
  note_gaps(*trace, diagnostics);
  std::optional<Progress> progress(std::in_place, "indexing", "instr", trace->steps(),
                                   command.quiet());
  Explainer explainer(*trace, diagnostics, progress->function());
  SliceOptions options;
  options.which = true;
  progress.emplace("slicing", "instr", trace->steps(), command.quiet());
  auto explained = explainer.explain(criterion, options, progress->function());
  progress.reset();
  if (!explained) return command.wrong_use(explained.error().describe());
  // From here on it is known which instances matter.
  NewTrace made(path, input);
  auto write = [&](const Reduction& reduction) { return write_reduced(*trace, reduction, made); };
  auto reduction = reduce(explainer, criterion, *explained, options, write, diagnostics);
  if (!reduction) return making_failed(command, reduction.error());
  if (auto kept = made.keep(); !kept) return making_failed(command, kept.error());

  auto output = Output::open("", input);
  if (!output) return output_failed(command, output.error());
  Seq begins = reduction->place(explained->failure.criteria.front().seq);
  if (format == "json") {
    Json json{{"schema", "svd-reduce/1"},
              {"before", counts_json(reduction->before())},
              {"after", counts_json(reduction->after())},
              {"begins", begins.value}};
    output->write(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } else {
    print_text(*reduction, begins, *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
