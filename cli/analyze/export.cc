// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze export: a trace as a log for another tool.

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/std_log.h"

namespace svd::cli {

int run_export(const Arguments& arguments) {
  Command command("svd-analyze export", "writes a trace as a log for another tool");
  command.example("svd-analyze export --format=std server.fb -o server.std",
                  "for the RAPID analyser");
  command.usage("--format=std TRACE [-o FILE]");
  std::string input;
  std::string path;
  add_trace(command, input);
  add_foreign_format(command);
  add_output(command, path, "write to FILE instead of standard output");
  command.remark("What the format cannot say is left out, and counted on standard error.");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open(path, input);
  if (!output) return output_failed(command, output.error());
  Diagnostics diagnostics = trace->diagnostics();
  OutputStream stream(*output);
  Progress progress("exporting", "instr", trace->steps(), command.quiet());
  auto exported = export_std(*trace, stream, diagnostics, progress.function());
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  if (!exported) return input_failed(command, exported.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
