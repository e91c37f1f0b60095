// SPDX-License-Identifier: Apache-2.0
#include "shell/narrator.h"

#include <fmt/format.h>

#include <algorithm>

namespace svd::cli {

std::string value_text(std::uint64_t value, std::uint64_t size) {
  constexpr std::uint64_t kPlain = 100'000;  // larger numbers are mostly addresses and bits
  unsigned unused = size < 8 ? 64 - 8 * static_cast<unsigned>(size) : 0;
  auto number = static_cast<std::int64_t>(value << unused) >> unused;
  if (number < 0 && number > -static_cast<std::int64_t>(kPlain)) return fmt::format("{}", number);
  value = value << unused >> unused;
  return value < kPlain ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string Narrator::place(InstrId id) {
  StoryPlace place = place_of(session_.explainer().story_input(), id);
  std::string function = place.function.empty() ? "" : printable(place.function) + " ";
  std::string line =
      printable(place.file.substr(place.file.rfind('/') + 1)) + ":" + std::to_string(place.line);
  if (!place.label.empty())
    return printable(place.label) + " " + (place.line == 0 ? function : function + line);
  if (place.line != 0) return function + line;
  std::string code = session_.names().code(place.pc);
  return fmt::format("{:#x} {}", place.pc.value, code.empty() ? function : code);
}

std::string Narrator::thread(ThreadId id) const { return "T" + session_.names().thread(id); }

std::string Narrator::moment(const Instance& instance) {
  const Style& style = session_.style();
  return fmt::format("{}  {}  {}", style.faint(fmt::format("{:>10}", instance.seq.value)),
                     style.name(thread(instance.thread)), style.bold(place(instance.id)));
}

std::string Narrator::source(InstrId id) {
  StoryInput input = session_.explainer().story_input();
  const CodeTable::Home& home = input.code.home_of(id);
  if (input.code.block(home.block).abstract) {
    StatementId statement = input.code.step_of(id).statement;
    return printable(session_.trace().statements()[statement.value].text);
  }
  StoryPlace place = place_of(input, id);
  return place.line == 0 ? "" : std::string(session_.source().source_line(place.file, place.line));
}

void Narrator::tell(const Found& found) {
  const Instance& me = found.facts.instance;
  session_.say(moment(me));
  if (std::string text = source(me.id); !text.empty())
    session_.say(fmt::format("{:12}{}", "", session_.style().name(text)));
  for (const MemoryAccess& done : found.facts.accesses)
    session_.say(fmt::format("{:12}{}", "", access(done, me.id)));
}

void Narrator::tell_short(const std::string& words, Seq seq) {
  auto found = session_.run().find(seq);
  if (!found) return session_.say(fmt::format("{}{:>10}  (lost)", words, seq.value));
  const Instance& me = found->facts.instance;
  session_.say(words + moment(me));
  if (std::string text = source(me.id); !text.empty())
    session_.say(fmt::format("{:14}{}", "", session_.style().name(text)));
}

std::string Narrator::memory(Range bytes, std::optional<InstrId> by) {
  std::string name = session_.source().variable_at(bytes.address, bytes.size);
  if (name.empty() && session_.names().data(bytes.address) != nullptr)
    name = session_.names().access(bytes.address, bytes.size);
  std::string address = fmt::format("[{:#x},{}]", bytes.address.value, bytes.size);
  if (!name.empty()) return printable(name);
  Pc pc = by ? session_.run().code().pc_of(*by) : Pc();
  if (pc.value != 0 && session_.source().is_user(pc)) name = session_.source().operand_name(pc);
  return name.empty() ? address : printable(name) + " " + address;
}

std::string Narrator::access(const MemoryAccess& access, InstrId by) {
  std::string text = fmt::format("{} {}", access.slot->write ? "wrote" : "read",
                                 memory({access.address, access.size}, by));
  if (access.has_value) text += " = " + value_text(access.value, access.size);
  return access.slot->atomic ? text + " (atomic)" : text;
}

}  // namespace svd::cli
