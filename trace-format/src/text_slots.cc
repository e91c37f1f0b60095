// SPDX-License-Identifier: Apache-2.0

#include "text_slots.h"

#include "text_lexer.h"

namespace svd::text {
namespace {

bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// The direction and role that `text` starts with.
Slot parse_direction(std::string_view& text, std::string_view token) {
  Slot slot;
  slot.write = skip(text, 'w');
  if (!slot.write && !skip(text, 'r')) fail("expected r or w instead of '{}'", token);
  if (skip(text, 'a')) slot.role = Role::kAddress;
  if (skip(text, 'c')) slot.role = Role::kCondition;
  return slot;
}

void print_direction(std::string& out, const Slot& slot) {
  out += slot.write ? 'w' : 'r';
  if (slot.role == Role::kAddress) out += 'a';
  if (slot.role == Role::kCondition) out += 'c';
}

}  // namespace

Slot parse_slot(std::string_view token, std::uint16_t instruction, const SymbolNames& symbols) {
  std::string_view text = token;
  Slot slot = parse_direction(text, token);
  slot.instruction = instruction;
  if (!skip(text, '*')) {
    std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
    slot.size = number<std::uint16_t>(digits, "a size in bytes, or *");
    if (slot.size == 0) fail("a slot of unknown size is written * instead of 0");
    text.remove_prefix(digits.size());
  }
  slot.atomic = skip(text, '!');
  slot.optional = skip(text, '?');
  if (text.empty()) return slot;
  if (!skip(text, '@')) fail("expected ! ? or @ instead of '{}' in {}", text, token);
  if (!skip(text, '$')) {
    slot.source = AddressSource::kConstant;
    slot.offset = symbols.address(text).value;
    return slot;
  }
  slot.source = AddressSource::kSlot;
  std::size_t sign = text.find_first_of("+-");
  slot.base = number<std::uint16_t>(text.substr(0, sign), "a slot's number");
  if (sign != std::string_view::npos) {
    auto distance = number<std::uint64_t>(text.substr(sign + 1), "a distance in bytes");
    slot.offset = text[sign] == '-' ? 0 - distance : distance;
  }
  return slot;
}

void print_slot(std::string& out, const Slot& slot, const SymbolNames& symbols) {
  print_direction(out, slot);
  out += slot.is_range() ? "*" : fmt::format("{}", slot.size);
  if (slot.atomic) out += '!';
  if (slot.optional) out += '?';
  if (slot.source == AddressSource::kConstant) {
    out += '@' + symbols.address_text(Addr(slot.offset));
  } else if (slot.source == AddressSource::kSlot) {
    out += fmt::format("@${}", slot.base);
    bool negative = static_cast<std::int64_t>(slot.offset) < 0;
    if (slot.offset != 0)
      out += fmt::format("{}{}", negative ? '-' : '+', negative ? 0 - slot.offset : slot.offset);
  }
}

Slot parse_access(std::string_view token) {
  std::string_view text = token;
  Slot slot = parse_direction(text, token);
  slot.atomic = skip(text, '!');
  slot.size = skip(text, '*') ? 0 : 1;
  if (!text.empty()) fail("expected r or w with a, c, ! or * instead of '{}'", token);
  return slot;
}

void print_access(std::string& out, const Slot& slot) {
  print_direction(out, slot);
  if (slot.atomic) out += '!';
  if (slot.is_range()) out += '*';
}

}  // namespace svd::text
