// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze import: a trace from the log of another tool.

#include "analyze/new_trace.h"
#include "analyze/text_input.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/std_log.h"

namespace svd::cli {

int run_import(const Arguments& arguments) {
  Command command("svd-analyze import", "makes a trace from the log of another tool");
  command.example("svd-analyze import --format=std account.std -o account.fb",
                  "a log of the RAPID analyser");
  command.usage("--format=std LOG -o FILE");
  std::string input;
  std::string output;
  command.app().add_option("LOG", input, "the log; - is standard input")->required();
  add_foreign_format(command);
  add_output(command, output, "the trace to write; - is standard output")->required();
  add_making_exits(command, "LOG");
  if (auto exit = command.parse(arguments)) return *exit;
  auto log = TextInput::open(input);
  if (!log) return input_failed(command, log.error());
  NewTrace trace(output, input);
  Progress progress("importing", "events", 0, command.quiet());
  auto made = import_std(
      log->text(), input, [&trace](const Process& process) { return trace.create(process); },
      progress.function());
  if (!made) return making_failed(command, made.error());
  if (auto kept = trace.keep(); !kept) return making_failed(command, kept.error());
  return kSuccess;
}

}  // namespace svd::cli
