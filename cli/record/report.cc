// SPDX-License-Identifier: Apache-2.0

#include "record/report.h"

#include <fmt/format.h>
#include <string.h>

#include <cstdio>
#include <ctime>

#include "common/terminal.h"

namespace svd::cli {
namespace {

std::string end_text(const RecordedRun& run) {
  switch (run.end) {
    case EndKind::kExit:
      return fmt::format("exit status {}", run.value);
    case EndKind::kSignal: {
      std::string text = death(run.value);
      return run.fatal_thread == 0 ? text : fmt::format("{} in thread {}", text, run.fatal_thread);
    }
    case EndKind::kExec:
      return "became another program";
    case EndKind::kUnknown:
      break;
  }
  return "ended, nobody knows how";
}

std::string line(const RecordedRun& run, const std::optional<Chaos>& chaos) {
  std::string text =
      fmt::format("{} {}; {}, {}, {} in {}", printable(run.program), end_text(run),
                  counted(run.threads, "thread"), counted(run.instructions, "instruction"),
                  human_bytes(run.bytes), printable(run.file));
  if (run.dropped > 0)
    text += fmt::format("; {} before were dropped by --last", grouped(run.dropped));
  if (chaos) text += "; " + chaos->describe();
  if (!run.problem.empty()) text += fmt::format("; INCOMPLETE: {}", printable(run.problem));
  return fmt::format("{}; next: svd-analyze {}", text, printable(run.file));
}

// What we ourselves have used of the processors; beside `seconds` it says who waited for whom.
double processor_seconds() { return static_cast<double>(clock()) / CLOCKS_PER_SEC; }

}  // namespace

void report_stats(const RunOutcome& outcome) {
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
  std::uint64_t bytes = 0;
  std::uint64_t threads = 0;
  for (const RecordedRun& run : outcome.traces) {
    instructions += run.instructions;
    accesses += run.accesses;
    bytes += run.bytes;
    threads += run.threads;
  }
  fmt::print(
      stderr,
      "{{\"instructions\": {}, \"accesses\": {}, \"threads\": {}, \"bytes\": {}, "
      "\"seconds\": {:.3f}, \"collector_seconds\": {:.3f}, \"engine\": \"valgrind\", \"seed\": "
      "{}}}\n",
      instructions, accesses, threads, bytes, outcome.seconds, processor_seconds(),
      outcome.chaos ? std::to_string(outcome.chaos->seed) : "null");
}

std::string death(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("died of SIG{}", name)
                         : fmt::format("died of signal {}", signal);
}

void report(const Command& command, const RunOutcome& outcome) {
  bool recorded = false;
  for (const RecordedRun& run : outcome.traces) {
    recorded |= !run.file.empty();
    if (run.file.empty())
      command.complain(fmt::format("{} was not recorded: {}", run.program, run.problem));
    else if (!command.quiet() || !run.problem.empty())
      command.complain(line(run, outcome.chaos));
  }
  // Without a trace, what Valgrind said is the reason; otherwise only what concerns the recording.
  for (const std::string& remark : outcome.remarks) {
    if (!recorded || remark.starts_with("svd:")) command.complain(remark);
  }
}

}  // namespace svd::cli
