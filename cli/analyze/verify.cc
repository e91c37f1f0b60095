// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze verify: reads every byte, and checks what decoding alone does not: that whatever is
// referred to exists and that nothing of the total order is missing.

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "svd/trace/event.h"

namespace svd::cli {
namespace {

class Checker {
 public:
  Checker(const TraceReader& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics), next_(trace.first_seq()) {
    for (const Statement& statement : trace.statements()) {
      for (StatementId id : statement.controlled_by)
        refer(id.value, trace.statements().size(), "statement");
    }
    for (const Block& block : trace.blocks()) {
      for (StatementId id : block.statements)
        refer(id.value, trace.statements().size(), "statement");
    }
  }

  void chunk(const Chunk& chunk) {
    if (chunk.first_seq != next_) {
      diagnostics_.add("missing-stretch", Severity::kLoss, 1,
                       fmt::format("after instruction {} the trace goes on with {}", next_.value,
                                   chunk.first_seq.value));
    }
    next_ = chunk.end_seq();
    steps_ += chunk.steps;
    events_ += chunk.events.size();
    accesses_ += chunk.addresses.size();
    for (const Run& run : chunk.runs) thread(run.thread);
    for (const Event& event : chunk.events) {
      thread(event.thread);
      std::visit([this](const auto& body) { body.fields(body, *this); }, event.body);
      if (const auto* gap = std::get_if<Gap>(&event.body)) note_gap(event, *gap, diagnostics_);
    }
  }

  // Decoding does not need the table of pages; asking for the last byte of memory reads all of it.
  void pages(std::size_t index) {
    auto read = trace_.may_touch(index, Addr(~std::uint64_t{0}), 1);
    if (!read) diagnostics_.add("damaged-pages", Severity::kLoss, 1, read.error().describe());
  }

  // A field of an event.
  void operator()(std::string_view, const ThreadId& id) { thread(id); }
  void operator()(std::string_view, const ModuleId& id) {
    refer(id.value, trace_.modules().size(), "module");
  }
  void operator()(std::string_view, const StackId& id) {
    if (id != kNoStack) refer(id.value, trace_.stacks().size(), "stack");
  }
  void operator()(std::string_view, const auto&) {}

  std::string summary() const {
    return fmt::format("{} instructions, {} accesses, {} events", grouped(steps_),
                       grouped(accesses_), grouped(events_));
  }

 private:
  void refer(std::uint32_t id, std::size_t count, std::string_view what) {
    if (id < count) return;
    diagnostics_.add(
        fmt::format("unknown-{}", what), Severity::kLoss, 1,
        fmt::format("{} {} is referred to, but the trace has only {}", what, id, count));
  }

  void thread(ThreadId id) {
    if (id == known_) return;
    auto threads = trace_.threads();
    if (std::any_of(threads.begin(), threads.end(),
                    [id](const ThreadInfo& info) { return info.id == id; })) {
      known_ = id;
    } else {
      diagnostics_.add("unknown-thread", Severity::kLoss, 1,
                       fmt::format("thread {} is not among the trace's threads", id.value));
    }
  }

  const TraceReader& trace_;
  Diagnostics& diagnostics_;
  Seq next_;
  std::uint64_t steps_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t events_ = 0;
  ThreadId known_;  // the one seen last
};

}  // namespace

int run_verify(const Arguments& arguments) {
  Command command("svd-analyze verify",
                  "reads every byte of a trace and says whether it is what was written");
  command.example("svd-analyze verify server.fb", "after a copy over the network");
  command.example("svd-analyze verify -q server.fb && echo sound", "in a script");
  command.usage("[options] TRACE");
  std::string input;
  add_trace(command, input);
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open("", input);
  if (!output) return output_failed(command, output.error());
  Diagnostics diagnostics = trace->diagnostics();
  Checker checker(*trace, diagnostics);
  {
    Progress progress("verifying", "instr", trace->steps(), command.quiet());
    trace->scan(TraceReader::Order::kForward, Columns(), diagnostics, [&](const Chunk& chunk) {
      checker.chunk(chunk);
      progress.at(chunk.end_seq() - trace->first_seq());
      return true;
    });
    for (std::size_t i = 0; i < trace->chunks().size(); ++i) checker.pages(i);
  }
  int exit = exit_code(*trace, diagnostics);
  output->write(fmt::format("{}: {}: {}\n", printable(input),
                            exit == kSuccess ? "sound" : "damaged or incomplete",
                            checker.summary()));
  if (auto written = output->finish(); !written) return output_failed(command, written.error());
  tell(command, diagnostics);
  return exit;
}

}  // namespace svd::cli
