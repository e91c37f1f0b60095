// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze slice: from a failure, or any place that is named, back to its causes.

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "report/slice_text.h"
#include "slicer/backward.h"
#include "slicer/failure.h"
#include "slicer/story.h"

namespace svd::cli {

int run_slice(const Arguments& arguments) {
  Command command("svd-analyze slice", "goes from a failure back to its causes");
  command.example("svd-analyze slice server.fb", "why did it crash?");
  command.usage("[options] TRACE [CRITERION]");
  std::string input;
  std::string path;
  bool all = false;
  add_trace(command, input);
  command.app().add_flag("--all", all, "every step, not only the first 20");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());

  Diagnostics diagnostics;
  ControlFlow flow = ControlFlow::of(*trace, diagnostics);
  CodeTable code = CodeTable::of(*trace, flow, diagnostics);
  ControlIndex control = ControlIndex::of(*trace, code, flow, diagnostics);
  // From here on every instance's control parent can be told, and restores are marked.
  SourceMap source(*trace, diagnostics);
  InstanceReader instances(*trace, code, control);
  auto failure = find_failure(*trace, instances, source, diagnostics);
  if (!failure) return command.wrong_use(failure.error().describe());
  SliceInput slice_input{*trace, code, control, number_lines(code, source)};
  Slice slice = slice_backward(slice_input, failure->criteria, {}, diagnostics);
  StoryInput story_input{*trace, code, instances, source};
  Story story = tell_story(story_input, slice, diagnostics);
  SliceReport report{*trace,      source,       slice, story, place_of(story_input, failure->at.id),
                     failure->at, failure->what};
  constexpr std::size_t kShown = 20;
  print_slice(report, all ? story.entries.size() : kShown,
              Style(command.color(), output->descriptor()), *output);
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
