// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze recover: a clean trace from a damaged one.

#include <fmt/format.h>

#include "analyze/new_trace.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/copy.h"

namespace svd::cli {
namespace {

std::string loss_sentence(const CopyLoss& loss) {
  std::string text;
  auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), what);
  };
  add(loss.chunks, "chunks");
  add(loss.bytes, "bytes");
  add(loss.instructions, "instructions");
  add(loss.accesses, "accesses");
  add(loss.events, "events");
  add(loss.blocks, "code blocks");
  if (loss.end) text += fmt::format("{}the end of the run", text.empty() ? "" : ", and ");
  return "lost: " + text;
}

}  // namespace

int run_recover(const Arguments& arguments) {
  Command command("svd-analyze recover",
                  "makes a clean trace of what can be read of a damaged one");
  command.example("svd-analyze recover broken.fb -o clean.fb", "and says what was lost");
  command.usage("TRACE -o FILE");
  std::string input;
  std::string path;
  add_trace(command, input);
  add_output(command, path, "the trace to write; - is standard output")->required();
  command.remark(
      "Where something is missing the new trace has a gap, which dump shows and every report "
      "mentions.\n"
      "Instructions after a gap are numbered on without a hole.");
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  NewTrace copy(path, input);
  auto writer = copy.create(trace->process());
  if (!writer) return making_failed(command, writer.error());
  Result<CopyLoss> loss = CopyLoss{};
  {
    Progress progress("recovering", "instr", trace->steps(), command.quiet());
    loss = copy_trace(*trace, **writer, progress.function());
  }
  if (!loss) return making_failed(command, loss.error());
  if (auto finished = (*writer)->finish(); !finished)
    return making_failed(command, finished.error());
  if (auto kept = copy.keep(); !kept) return making_failed(command, kept.error());
  tell(command, trace->diagnostics());
  TraceWriter::Totals totals = (*writer)->totals();
  if (!command.quiet()) {
    fmt::print(stderr, "recovered: {} instructions, {} accesses, {} events\n",
               grouped(totals.steps), grouped(totals.accesses), grouped(totals.events));
  }
  if (loss->any()) fmt::print(stderr, "{}\n", loss_sentence(*loss));
  return loss->any() ? kDamaged : exit_code(*trace, trace->diagnostics());
}

}  // namespace svd::cli
