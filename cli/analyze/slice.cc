// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze slice: from a failure, or any place that is named, back to its causes, or on to what
// followed from it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "analyze/drawing.h"
#include "analyze/slice_options.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "report/slice_text.h"

namespace svd::cli {
namespace {

constexpr std::size_t kShown = 20;
// More than any drawing program lays out in a minute.
constexpr std::uint64_t kMostDrawn = 2000;

struct Words {
  SliceWords slice{};
  std::string criterion = "fault";
  std::string from{};
  std::string format = "text";
  bool forward = false;
  bool all = false;
  bool expand = false;

  bool draws() const { return format == "dot" || format == "graphml"; }
};

void print_json(const SliceReport& report, Output& output) {
  nlohmann::ordered_json json{{"schema", "svd-report/1"}, {"slice", slice_json(report)}};
  output.write(json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

Result<Explanation> explain(Explainer& explainer, const Words& words, const SliceOptions& options,
                            const ProgressFunction& progress) {
  if (!words.from.empty())
    return explainer.explain_between(words.from, words.criterion, options, progress);
  return words.forward ? explainer.explain_forward(words.criterion, options, progress)
                       : explainer.explain(words.criterion, options, progress);
}

int run(const Arguments& arguments, const std::optional<std::string>& criterion) {
  Command command("svd-analyze slice", "goes from a failure back to its causes");
  command.example("svd-analyze slice server.fb", "why did it crash?");
  command.example("svd-analyze slice server.fb log.c:44", "what led to the last time here");
  command.example("svd-analyze slice server.fb var:hits", "where does this value come from?");
  command.example("svd-analyze slice --forward server.fb read_config", "what did this lead to?");
  command.usage("[options] TRACE [CRITERION]");
  explain_criteria(command);
  std::string input;
  std::string path;
  Words words;
  add_trace(command, input);
  if (criterion)
    words.criterion = *criterion;
  else
    command.app().add_option("CRITERION", words.criterion, "what to start from; see below");
  add_choice(command.app(), "--format", words.format, {"text", "json", "dot", "graphml"}, "FORMAT",
             "a story as text or json; every instance as a drawing, dot or graphml");
  CLI::Option* forward = command.app().add_flag("--forward", words.forward,
                                                "what follows from it, not what led to it");
  command.app()
      .add_option("--from", words.from, "only what lies between that criterion and this one")
      ->type_name("CRITERION")
      ->excludes(forward);
  add_kinds(command, words.slice);
  add_order(command, words.slice);
  add_limits(command, words.slice);
  command.app().add_flag(
      "--all", words.all,
      fmt::format("every step, not only the first {}; drawings of more than {} instances", kShown,
                  kMostDrawn));
  command.app().add_flag("--expand", words.expand,
                         "what happened in libraries as steps of their own, not only the calls");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());

  Diagnostics diagnostics = trace->diagnostics();
  note_gaps(*trace, diagnostics);
  std::optional<Progress> progress(std::in_place, "indexing", "instr", trace->steps(),
                                   command.quiet());
  Explainer explainer(*trace, diagnostics, progress->function());
  if (words.expand) explainer.tell_libraries();
  auto options = slice_options(words.slice, *trace, explainer.model(), diagnostics);
  if (!options) return command.wrong_use(options.error().describe());
  options->which = words.draws();
  progress.emplace("slicing", "instr", trace->steps(), command.quiet());
  auto explained = explain(explainer, words, *options, progress->function());
  progress.reset();
  if (!explained) return command.wrong_use(explained.error().describe());
  SliceReport report{*trace, explainer.source(), *explained};
  if (words.draws()) {
    if (!words.all && explained->slice.instances > kMostDrawn)
      return command.wrong_use(fmt::format(
          "the slice has {} instances; limit it, by --depth=5 or --thread=1, or say --all",
          explained->slice.instances));
    progress.emplace("drawing", "instr", trace->steps(), command.quiet());
    GraphDrawing drawing = draw_slice(*trace, explainer.model(), explained->slice, *options,
                                      diagnostics, progress->function());
    progress.reset();
    (words.format == "dot" ? print_graph_dot : print_graph_graphml)(drawing, *output);
  } else if (words.format == "json") {
    print_json(report, *output);
  } else {
    print_slice(report, words.all ? explained->story.entries.size() : kShown,
                Style(command.color(), output->descriptor()), *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace

int run_slice(const Arguments& arguments) { return run(arguments, std::nullopt); }

int run_slice_from(const Arguments& arguments, const std::string& criterion) {
  return run(arguments, criterion);
}

}  // namespace svd::cli
