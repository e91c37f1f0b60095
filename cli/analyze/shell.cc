// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze shell: questions about a run, one after the other.

#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "analyze/trace_input.h"
#include "analyze/verbs.h"
#include "common/exit_codes.h"
#include "shell/commands.h"
#include "shell/completion.h"
#include "shell/line_reader.h"

namespace svd::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// Ends an answer that the user does not want to wait for.
struct Interrupted {};

// Ctrl-C stops the answer, not the shell. Reading a line is interrupted, too.
void take_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
}

std::string prompt_of(Session& session) {
  return fmt::format("svd T{} {}> ", session.thread().value, session.position().value);
}

// Until the end of the lines, or until nobody reads the answers.
Status talk(Session& session, LineReader& lines) {
  while (auto line = lines.next(talks_to_a_person() ? prompt_of(session) : "")) {
    interrupted = 0;
    Result<Outcome> outcome = Outcome::kGoOn;
    try {
      outcome = answer(session, *line);
    } catch (const Interrupted&) {
      outcome = wrong("stopped");
    }
    if (auto written = session.output().finish(); !written) return written;
    if (!outcome) fmt::print(stderr, "{}\n", printable(outcome.error().describe()));
    if (outcome && *outcome == Outcome::kQuit) break;
  }
  return Done{};
}

}  // namespace

int run_shell(const Arguments& arguments) {
  Command command("svd-analyze shell", "answers questions about a recorded run");
  command.example("svd-analyze shell server.fb", "a prompt; help lists what can be asked");
  command.example("echo threads | svd-analyze shell server.fb", "the same from a script");
  command.usage("[options] TRACE");
  std::string help = "Commands:\n";
  for (const ShellCommand& c : shell_commands())
    help += fmt::format("  {:<34}  {}\n", fmt::format("{} {}", c.name, c.arguments), c.summary);
  help.pop_back();
  command.remark(help);
  std::string input;
  add_trace(command, input);
  add_trace_exits(command);
  if (auto exit = command.parse(arguments)) return *exit;
  auto trace = open_trace(command, input);
  if (!trace) return kUnreadable;
  auto output = Output::open("", input);
  if (!output) return output_failed(command, output.error());

  Diagnostics diagnostics = trace->diagnostics();
  std::optional<Progress> progress(std::in_place, "loading", "instr", trace->steps(),
                                   command.quiet());
  Explainer explainer(*trace, diagnostics, progress->function());
  progress.emplace("indexing", "instr", trace->steps(), command.quiet());
  RunView run(*trace, explainer.model(), diagnostics, progress->function());
  progress.reset();
  Names names(*trace, diagnostics);
  tell(command, diagnostics);
  // From here on questions take no more than a look at a few chunks; only slices walk far.
  Style style(command.color(), output->descriptor());
  Session session(*trace, explainer, run, names, style, *output, [](std::uint64_t) {
    if (interrupted != 0) throw Interrupted();
  });
  if (talks_to_a_person()) take_interrupts();
  auto lines =
      LineReader::open([&session](const std::string& line) { return completions(session, line); });
  if (auto done = talk(session, *lines); !done) return output_failed(command, done.error());
  return exit_code(*trace, diagnostics);
}

}  // namespace svd::cli
