// SPDX-License-Identifier: Apache-2.0
//
// last-write, next-write, who-read: what happened to a place in memory.
#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/narrator.h"
#include "slicer/queries/readers.h"

namespace svd::cli {
namespace {

// Takes the first event that it hears of, with what can be shown of the kernel's data.
struct First {
  std::optional<MemoryEvent> event{};
  std::string data{};

  bool operator()(const MemoryEvent& found) {
    constexpr std::size_t kShown = 24;
    event = found;
    event->data = {};
    for (std::uint8_t byte : found.data.first(std::min(kShown, found.data.size())))
      data += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    if (!data.empty())
      data = fmt::format(": \"{}\"{}", data, found.data.size() > kShown ? "…" : "");
    return false;
  }
};

// Tells of the change of some of the bytes, and goes to its instruction.
Status tell_change(Session& session, Range bytes, const First& first) {
  Narrator narrator(session);
  const MemoryEvent& event = *first.event;
  std::string memory = narrator.memory(event.bytes, {});
  bool fresh = event.kind == MemoryEvent::Kind::kFresh;
  auto at = event.kernel || fresh ? session.run().last_before(event.thread, event.seq) : event.seq;
  if (fresh)
    session.say(fmt::format("{} became new: {} got it, and nothing is known of what is in it",
                            memory, narrator.thread(event.thread)));
  else if (event.kernel)
    session.say(fmt::format("the kernel wrote {} for {}{}", memory, narrator.thread(event.thread),
                            first.data));
  if (!at) return Done{};
  auto found = session.find(*at);
  if (!found) return found.error();
  narrator.tell(*found);
  std::uint64_t begin = std::max(event.bytes.address.value, bytes.address.value);
  std::uint64_t end =
      std::min(event.bytes.address.value + event.bytes.size, bytes.address.value + bytes.size);
  if (end - begin < bytes.size)
    session.say(fmt::format("{:12}{} of the {} bytes", "", end - begin, bytes.size));
  session.go(*at);
  return Done{};
}

}  // namespace

Status shell_last_write(Session& session, std::string_view rest) {
  auto asked = MemoryQuestion::parse(session, "last-write", rest);
  if (!asked) return asked.error();
  First first;
  look_back(session.run(), asked->bytes, asked->at, Interest::kChanges, std::ref(first));
  if (first.event) return tell_change(session, asked->bytes, first);
  session.say(fmt::format("nothing in the trace wrote {} before {}",
                          Narrator(session).memory(asked->bytes, {}), asked->at.value));
  return Done{};
}

Status shell_next_write(Session& session, std::string_view rest) {
  auto asked = MemoryQuestion::parse(session, "next-write", rest);
  if (!asked) return asked.error();
  First first;
  look_ahead(session.run(), asked->bytes, asked->at, Interest::kChanges, std::ref(first));
  if (first.event) return tell_change(session, asked->bytes, first);
  session.say(fmt::format("nothing writes {} after {}", Narrator(session).memory(asked->bytes, {}),
                          asked->at.value));
  return Done{};
}

Status shell_who_read(Session& session, std::string_view rest) {
  auto asked = MemoryQuestion::parse(session, "who-read", rest);
  if (!asked) return asked.error();
  Narrator narrator(session);
  Readers readers = readers_of(session.run(), asked->bytes, asked->at);
  for (const Reader& reader : readers.all) {
    const MemoryEvent& read = reader.first;
    auto at = instruction_of(session.run(), read);
    auto found = at ? session.run().find(*at) : std::nullopt;
    if (!found) continue;
    narrator.tell(*found);
    if (read.kernel) session.say(fmt::format("{:12}the kernel read it for the thread", ""));
    if (reader.count > 1)
      session.say(
          fmt::format("{:12}{} times, last at {}", "", grouped(reader.count), reader.last.value));
  }
  if (readers.others != 0)
    session.say(fmt::format("{} more reads by others", grouped(readers.others)));
  std::string what = narrator.memory(asked->bytes, {});
  if (readers.all.empty())
    session.say(fmt::format("nobody reads {} after {}", what, asked->at.value));
  std::string end = readers.stopped
                        ? fmt::format("looked as far as {}; who-read with that number goes on",
                                      readers.stopped->value - 1)
                    : readers.until ? fmt::format("{} changes at {}", what, readers.until->value)
                                    : fmt::format("{} does not change any more", what);
  session.say(session.style().faint(end));
  return Done{};
}

}  // namespace svd::cli
