// SPDX-License-Identifier: Apache-2.0
//
// threads, stack: where everybody is.
#include <fmt/format.h>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/narrator.h"

namespace svd::cli {

Status shell_threads(Session& session, std::string_view rest) {
  if (!words_of(rest).empty()) return wrong("threads takes nothing behind it");
  Narrator narrator(session);
  ThreadId here = session.thread();
  for (const ThreadInfo& thread : session.trace().threads()) {
    auto last = session.run().last_before(thread.id, session.position() + 1);
    bool ended = last && *last == thread.last_seq && *last != session.position();
    std::string state = thread.steps == 0 ? "executes nothing"
                        : !last           ? "has not begun"
                        : ended           ? "is at its end"
                                          : "";
    session.say(fmt::format("{} {:<16} {:>15} instructions, {} to {}  {}",
                            thread.id == here ? "*" : " ", narrator.thread(thread.id),
                            grouped(thread.steps), thread.first_seq.value, thread.last_seq.value,
                            session.style().faint(state)));
    if (last) narrator.tell_short("  ", *last);
  }
  return Done{};
}

Status shell_stack(Session& session, std::string_view rest) {
  auto at = moment_asked(session, "stack", rest);
  if (!at) return at.error();
  auto found = session.find(*at);
  if (!found) return found.error();
  Narrator narrator(session);
  const CodeTable& code = session.run().code();
  // The innermost first; an instruction stands in its function and in those it was inlined into.
  std::size_t number = 0;
  auto frames = [&](const Instance& instance, const std::string& when) {
    Pc pc = code.pc_of(instance.id);
    if (pc.value == 0) {
      session.say(fmt::format("#{:<3} {}  {}", number++, narrator.place(instance.id), when));
      return;
    }
    for (const Frame& frame : session.source().at(pc).frames) {
      std::string line =
          frame.line == 0
              ? session.names().code(pc)
              : fmt::format("{}:{}", frame.file.substr(frame.file.rfind('/') + 1), frame.line);
      bool inlined = &frame != &session.source().at(pc).frames.back();
      session.say(fmt::format(
          "#{:<3} {}  {}  {}", number++,
          session.style().bold(printable(frame.function.empty() ? "?" : frame.function)),
          printable(line), session.style().faint(inlined ? "inlined" : when)));
    }
  };
  const Instance& me = found->facts.instance;
  session.say(narrator.thread(me.thread));
  frames(me, fmt::format("at {}", me.seq.value));
  ControlIndex::Point now{me.seq, me.thread};
  std::vector<Seq> calls =
      session.run().control().call_stacks(session.trace(), std::span(&now, 1)).front().calls;
  for (std::size_t i = calls.size(); i-- > 0;) {
    auto call = session.run().find(calls[i]);
    if (!call) continue;
    bool other = call->facts.instance.thread != me.thread;
    if (other)
      session.say(fmt::format("started by {}", narrator.thread(call->facts.instance.thread)));
    frames(call->facts.instance, fmt::format("called at {}", calls[i].value));
  }
  return Done{};
}

}  // namespace svd::cli
