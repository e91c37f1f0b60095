// SPDX-License-Identifier: Apache-2.0
//
// value: what was in memory at a moment, and since when.
#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/narrator.h"
#include "slicer/queries/memory_value.h"
#include "slicer/queries/register_value.h"
#include "slicer/queries/register_writers.h"
#include "slicer/register_names.h"

namespace svd::cli {
namespace {

using Bytes = std::vector<std::optional<std::uint8_t>>;

// "5 (0x5)"; nothing when a byte is not known or they are too many for a number.
std::string number_text(const Bytes& bytes) {
  if (bytes.size() > 8 || std::find(bytes.begin(), bytes.end(), std::nullopt) != bytes.end())
    return "";
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{*bytes[i]} << 8 * i;
  std::string text = value_text(value, bytes.size());
  return text.starts_with("0x") ? text : fmt::format("{} ({:#x})", text, value);
}

// Sixteen in a line, as hexdump does; "??" is not known.
void dump(Session& session, Addr address, const Bytes& bytes) {
  constexpr std::size_t kWide = 16;
  for (std::size_t from = 0; from < bytes.size(); from += kWide) {
    std::string hex, text;
    for (std::size_t i = from; i < std::min(from + kWide, bytes.size()); ++i) {
      hex += bytes[i] ? fmt::format(" {:02x}", *bytes[i]) : " ??";
      bool shown = bytes[i] && *bytes[i] >= 0x20 && *bytes[i] < 0x7f;
      text += shown ? static_cast<char>(*bytes[i]) : '.';
    }
    session.say(fmt::format("{:12}{:#x} {:<48}  {}", "", address.value + from, hex, text));
  }
}

Status tell_register(Session& session, Reg reg, std::string_view rest) {
  auto at = moment_asked(session, "value REG", rest);
  if (!at) return at.error();
  auto found = session.find(*at);
  if (!found) return found.error();
  Narrator narrator(session);
  std::string name = register_name(reg);
  std::string what = fmt::format("{} of {}", name, narrator.thread(found->facts.instance.thread));
  auto value = register_value(session.run(), reg, *at);
  if (!value)
    session.say(fmt::format("no value or address in the trace tells what is in {}", what));
  else
    session.say(fmt::format(
        "{} = {}{}", what, session.style().bold(value_text(value->value, value->bytes)),
        value->bytes == 8
            ? ""
            : fmt::format(" in its low {} bytes; the others are not told", value->bytes)));
  Seq told{~std::uint64_t{0}};
  for (const auto& writer : register_writers(session.run(), found->facts.instance.thread, *at,
                                             session.run().code().cells_of(reg)))
    if (writer && *writer != told) narrator.tell_short("set at ", told = *writer);
  return Done{};
}

}  // namespace

Status shell_value(Session& session, std::string_view rest) {
  auto words = words_of(rest);
  if (auto reg = words.empty() ? std::nullopt : register_of(words[0]))
    return tell_register(
        session, *reg,
        words.size() == 1 ? ""
                          : rest.substr(static_cast<std::size_t>(words[1].data() - rest.data())));
  auto asked = MemoryQuestion::parse(session, "value", rest);
  if (!asked) return asked.error();
  Narrator narrator(session);
  Bytes bytes = memory_value(session.run(), asked->bytes, asked->at);
  std::string number = number_text(bytes);
  std::string what = narrator.memory(asked->bytes, {});
  auto unknown = std::count(bytes.begin(), bytes.end(), std::nullopt);
  if (!number.empty())
    session.say(fmt::format("{} = {}", what, session.style().bold(number)));
  else if (static_cast<std::size_t>(unknown) == bytes.size())
    session.say(fmt::format("no access in the trace tells what {} is", what));
  else
    session.say(unknown == 0 ? what + ":" : fmt::format("{}, {} bytes not known:", what, unknown));
  if (number.empty() && static_cast<std::size_t>(unknown) != bytes.size())
    dump(session, asked->bytes.address, bytes);
  Seq told{~std::uint64_t{0}};
  for (const Writer& writer : writers(session.run(), asked->bytes, asked->at)) {
    auto at = writer.event ? instruction_of(session.run(), *writer.event) : std::nullopt;
    if (at && *at != told) narrator.tell_short("written at ", told = *at);
  }
  return Done{};
}

}  // namespace svd::cli
