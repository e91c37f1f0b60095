// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze assemble: a trace from a textual one.

#include "analyze/new_trace.h"
#include "analyze/text_input.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/text.h"

namespace svd::cli {

int run_assemble(const Arguments& arguments) {
  Command command("svd-analyze assemble", "makes a trace from a hand-written text");
  command.example("svd-analyze assemble figure.txt -o figure.fb",
                  "the text of svd-analyze dump --text");
  command.example("svd-analyze assemble - -o figure.fb <figure.txt", "from standard input");
  command.usage("TEXT -o FILE");
  std::string input;
  std::string output;
  command.app().add_option("TEXT", input, "the textual trace; - is standard input")->required();
  add_output(command, output, "the trace to write; - is standard output")->required();
  add_making_exits(command, "TEXT");
  if (auto exit = command.parse(arguments)) return *exit;
  auto text = TextInput::open(input);
  if (!text) return input_failed(command, text.error());
  NewTrace trace(output, input);
  Progress progress("assembling", "lines", 0, command.quiet());
  auto made = assemble(
      text->text(), input, [&trace](const Process& process) { return trace.create(process); },
      progress.function());
  if (!made) return making_failed(command, made.error());
  if (auto kept = trace.keep(); !kept) return making_failed(command, kept.error());
  return kSuccess;
}

}  // namespace svd::cli
