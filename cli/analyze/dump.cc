// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze dump: the trace, or a part of it, for people, for programs, and as a textual trace.

#include <fmt/format.h>

#include "analyze/dump_listings.h"
#include "analyze/listing.h"
#include "analyze/names.h"
#include "analyze/selection.h"
#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/text.h"

namespace svd::cli {
namespace {

struct DumpOptions {
  std::string trace;
  std::string output;
  SelectionText selection;
  Bounds bounds;
  bool text = false;
  bool json = false;
};

void describe_use(Command& command, DumpOptions& options) {
  command.usage("[options] TRACE");
  command.example("svd-analyze dump --tail=30 server.fb",
                  "the last 30 lines: what led to the crash");
  command.example("svd-analyze dump --seq=1000..1200 server.fb",
                  "these instructions and what happened between them");
  command.example("svd-analyze dump --address=outcnt server.fb",
                  "who read and wrote this variable");
  command.example("svd-analyze dump --thread=2,worker-3 --function=append_log server.fb",
                  "two threads in one function");
  command.example("svd-analyze dump --json server.fb | jq 'select(.event)'",
                  "all events, for a script");
  command.example("svd-analyze dump --text figure.fb -o figure.txt",
                  "text that svd-analyze assemble reads");
  add_trace(command, options.trace);
  CLI::App& app = command.app();
  app.add_option("--seq", options.selection.seq,
                 "instructions A to B, counted from 0; A.., ..B and A too")
      ->type_name("A..B");
  app.add_option("--thread", options.selection.threads, "these threads only, by number or name")
      ->type_name("THREAD,...");
  app.add_option("--address", options.selection.address,
                 "what touches this memory: 0x4c0018, outcnt, log_buffer+8,4")
      ->type_name("WHERE[,SIZE]");
  app.add_option("--function", options.selection.function, "instructions of this function only")
      ->type_name("NAME");
  add_count(app, "--limit", options.bounds.limit, "stop after N lines");
  add_count(app, "--tail", options.bounds.tail, "the last N lines only");
  app.add_flag("--json", options.json, "one JSON object per line");
  app.add_flag("--text", options.text, "a textual trace; an execution of a block is printed whole");
  add_output(command, options.output, "write to FILE instead of standard output");
  add_trace_exits(command);
}

Status print_as_text(const TraceReader& trace, const SelectionText& text,
                     const Selection& selection, Output& output, Diagnostics& diagnostics,
                     const ProgressFunction& progress) {
  OutputStream stream(output);
  TextSelection chosen;
  if (text.empty()) return print_text(trace, chosen, stream, diagnostics, progress);
  Matcher matcher(trace, selection);
  chosen.first = selection.first;
  chosen.end = selection.last + 1;
  chosen.exec = [&matcher](const Exec& exec) { return matcher.matches(exec); };
  chosen.event = [&matcher](const Event& event) { return matcher.matches(event); };
  return print_text(trace, chosen, stream, diagnostics, progress);
}

}  // namespace

int run_dump(const Arguments& arguments) {
  Command command("svd-analyze dump", "shows what a trace holds, instruction by instruction");
  DumpOptions options;
  describe_use(command, options);
  if (auto exit = command.parse(arguments)) return *exit;
  bool bounded = options.bounds.limit != Bounds().limit || options.bounds.tail != Bounds().tail;
  if (options.text && options.json)
    return command.wrong_use("--text and --json exclude each other");
  if (options.text && bounded)
    return command.wrong_use("--text goes with --seq, not with --limit and --tail");

  auto trace = open_trace(command, options.trace);
  if (!trace) return kUnreadable;
  Diagnostics diagnostics = trace->diagnostics();
  Names names(*trace, diagnostics);
  auto selection = Selection::parse(options.selection, *trace, names);
  if (!selection) return command.wrong_use(selection.error().what);
  auto output = Output::open(options.output, options.trace);
  if (!output) return output_failed(command, output.error());

  Progress progress("dumping", "instr", trace->steps(), command.quiet());
  if (options.text) {
    auto printed = print_as_text(*trace, options.selection, *selection, *output, diagnostics,
                                 progress.function());
    if (!printed && !output->failed()) {
      command.complain(printed.error().describe());
      return kUnreadable;
    }
  } else {
    Style style(command.color(), output->descriptor());
    auto listing = options.json ? make_json_listing(*trace, names, *output)
                                : make_text_listing(*trace, names, style, *output);
    list(*trace, *selection, options.bounds, *listing, diagnostics, [&](Seq done) {
      progress.at(done - trace->first_seq());
      return !output->failed();
    });
  }
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
