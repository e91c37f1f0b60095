// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze slice: from a failure, or any place that is named, back to its causes.

#include <nlohmann/json.hpp>
#include <optional>

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "report/slice_text.h"

namespace svd::cli {

int run_slice(const Arguments& arguments) {
  Command command("svd-analyze slice", "goes from a failure back to its causes");
  command.example("svd-analyze slice server.fb", "why did it crash?");
  command.example("svd-analyze slice server.fb log.c:44", "what led to the last time here");
  command.example("svd-analyze slice server.fb var:hits", "where does this value come from?");
  command.usage("[options] TRACE [CRITERION]");
  command.remark(
      "Criteria:\n"
      "  fault                     how the run ended (the default)\n"
      "  FILE:LINE[@N]             an execution of a line\n"
      "  FUNCTION[@N]              a call of a function\n"
      "  pc:ADDRESS[@N]            of an instruction; pc:MODULE+OFFSET[@N]\n"
      "  seq:N                     the N-th instruction of the run\n"
      "  addr:ADDRESS[,SIZE][@SEQ] what is in memory, at the end or before an instruction\n"
      "  var:NAME[@SEQ]            the same for a variable of static storage\n"
      "  reg:NAME@SEQ              what is in a register before an instruction\n"
      "  output:N                  the bytes of the N-th write\n"
      "N counts executions from 1, from the last one back when negative; the last one is meant\n"
      "without it.");
  std::string input;
  std::string path;
  bool all = false;
  std::string criterion = "fault";
  std::string format = "text";
  SliceOptions options;
  add_trace(command, input);
  command.app().add_option("CRITERION", criterion, "what to start from; see below");
  add_format(command, format);
  command.app().add_flag_callback(
      "--thin", [&options] { options.addresses = false; }, "leave out what only formed addresses");
  command.app().add_flag_callback(
      "--data", [&options] { options.control = false; }, "leave out what only decided");
  command.app().add_flag_callback(
      "--control", [&options] { options.data = false; }, "only what decided");
  command.app().add_flag("--all", all, "every step, not only the first 20");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());

  Diagnostics diagnostics = trace->diagnostics();
  std::optional<Progress> progress(std::in_place, "indexing", "instr", trace->steps(),
                                   command.quiet());
  Explainer explainer(*trace, diagnostics, progress->function());
  progress.emplace("slicing", "instr", trace->steps(), command.quiet());
  auto explained = explainer.explain(criterion, options, progress->function());
  progress.reset();
  if (!explained) return command.wrong_use(explained.error().describe());
  SliceReport report{*trace, explainer.source(), *explained};
  constexpr std::size_t kShown = 20;
  if (format == "json") {
    output->write(
        nlohmann::ordered_json{{"schema", "svd-report/1"}, {"slice", slice_json(report)}}.dump(
            1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
        "\n");
  } else {
    print_slice(report, all ? explained->story.entries.size() : kShown,
                Style(command.color(), output->descriptor()), *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
