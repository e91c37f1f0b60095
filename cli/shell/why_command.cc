// SPDX-License-Identifier: Apache-2.0
//
// why: what an instruction directly follows from.
#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/narrator.h"
#include "slicer/queries/causes.h"
#include "slicer/register_names.h"

namespace svd::cli {
namespace {

class Teller {
 public:
  Teller(Session& session, const Found& found)
      : session_(session), narrator_(session), found_(found), me_(found.facts.instance) {}

  void tell(const Causes& causes) {
    for (const MemoryCause& cause : causes.memory) memory(cause);
    for (const RegisterCause& cause : causes.registers) reg(cause);
    if (causes.decision) {
      auto found = session_.run().find(*causes.decision);
      Flow flow = found ? found->facts.step->flow : Flow::kNext;
      bool other = found && found->facts.instance.thread != me_.thread;
      bool call = flow == Flow::kCall || flow == Flow::kIndirectCall;
      session_.say(other  ? "its thread was started by"
                   : call ? "it ran because of the call"
                          : "it ran because of the decision");
      narrator_.tell_short("  ", *causes.decision);
    }
    if (!causes.races.empty())
      session_.say(session_.style().warning("could have come in the other order"));
    for (const RaceCause& cause : causes.races) race(cause);
  }

 private:
  // The source knows what the instruction itself accesses, not what the kernel does behind it.
  std::string name(Range bytes) {
    const std::vector<MemoryAccess>& accesses = found_.facts.accesses;
    bool own = std::any_of(accesses.begin(), accesses.end(), [&](const MemoryAccess& done) {
      return done.address.value - bytes.address.value < bytes.size ||
             bytes.address.value - done.address.value < done.size;
    });
    return narrator_.memory(bytes, own ? std::optional(me_.id) : std::nullopt);
  }

  void memory(const MemoryCause& cause) {
    std::string what = name(cause.bytes);
    if (cause.role == Role::kAddress) what += " (for an address)";
    if (cause.kernel) what += " (read by the kernel)";
    if (!cause.write)
      return session_.say(fmt::format("{} was written by nobody in the trace", what));
    if (!cause.writer)
      return session_.say(fmt::format("{} was written by the kernel before the thread ran", what));
    bool remote = cause.write->thread != me_.thread;
    session_.say(fmt::format("{} was written by {}{}", what,
                             cause.write->kernel ? "the kernel in " : "",
                             remote ? session_.style().warning("another thread") : "this thread"));
    narrator_.tell_short("  ", *cause.writer);
  }

  void reg(const RegisterCause& cause) {
    std::string what = register_name(cause.reg);
    if (cause.role == UseRole::kAddress) what += " (for an address)";
    if (!cause.writer) return session_.say(what + " came with the thread");
    session_.say(what + " was set by");
    narrator_.tell_short("  ", *cause.writer);
  }

  void race(const RaceCause& cause) {
    std::string what = name(cause.bytes);
    bool before = cause.kind == RaceCause::Kind::kWriteBefore;
    session_.say(fmt::format("  {}: {} this {}", what, before ? "written before" : "written after",
                             before ? "write by" : "read by"));
    narrator_.tell_short("  ", cause.other);
  }

  Session& session_;
  Narrator narrator_;
  const Found& found_;
  const Instance& me_;
};

}  // namespace

Status shell_why(Session& session, std::string_view rest) {
  auto at = moment_asked(session, "why", rest);
  if (!at) return at.error();
  auto found = session.find(*at);
  if (!found) return found.error();
  Narrator(session).tell(*found);
  Teller(session, *found).tell(causes_of(session.run(), *found));
  session.go(*at);
  return Done{};
}

}  // namespace svd::cli
