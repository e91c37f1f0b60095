// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze info: what a trace holds and how the run ended.

#include "analyze/info_facts.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"

namespace svd::cli {

int run_info(const Arguments& arguments) {
  Command command("svd-analyze info",
                  "says what a trace holds, how the run ended, and what is missing");
  command.example("svd-analyze info server.fb", "a summary to paste into a ticket");
  command.example("svd-analyze info --json server.fb", "the same for a script");
  command.usage("[options] TRACE");
  std::string input;
  std::string path;
  std::string format = "text";
  add_trace(command, input);
  add_format(command, format);
  command.app().add_flag_callback(
      "--json", [&format] { format = "json"; }, "the same as --format=json");
  add_output(command, path, "write to FILE instead of standard output");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());
  Diagnostics of_names;
  Names names(*trace, of_names);
  Facts facts;
  {
    Progress progress("reading", "instr", trace->steps(), command.quiet());
    facts = gather(*trace, names, [&](Seq at) { progress.at(at - trace->first_seq()); });
  }
  for (const Diagnostic& d : of_names.list())
    facts.diagnostics.add(d.name, d.severity, d.count, d.text);
  if (format == "json") {
    print_info_json(*trace, facts, *output);
  } else {
    print_info(*trace, names, facts, Style(command.color(), output->descriptor()), *output);
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  return exit_code(*trace, facts.diagnostics);
}

}  // namespace svd::cli
