// SPDX-License-Identifier: Apache-2.0
#include "decode/undecoded.h"

#include <string_view>

namespace svd {
namespace {

constexpr std::uint8_t kEvex = 0x62, kVex2 = 0xc5, kVex3 = 0xc4;

// Bytes of legacy prefixes that may stand before: segments and the address size.
std::size_t prefixes(std::span<const std::uint8_t> code) {
  constexpr std::string_view kPrefixes = "\x26\x2e\x36\x3e\x64\x65\x67";
  std::size_t count = 0;
  while (count < code.size() &&
         kPrefixes.find(static_cast<char>(code[count])) != std::string_view::npos)
    ++count;
  return count;
}

// Bytes of modrm, sib and displacement; 0: `code` is too short.
std::size_t operand_bytes(std::span<const std::uint8_t> code) {
  if (code.empty()) return 0;
  unsigned mod = code[0] >> 6, rm = code[0] & 7;
  if (mod == 3) return 1;
  std::size_t bytes = 1;
  bool no_base = mod == 0 && rm == 5;
  if (rm == 4) {
    if (code.size() < 2) return 0;
    no_base = mod == 0 && (code[1] & 7) == 5;
    bytes = 2;
  }
  if (mod == 1) return bytes + 1;
  return mod == 2 || no_base ? bytes + 4 : bytes;
}

bool has_immediate(unsigned map, std::uint8_t opcode) {
  if (map == 3) return true;
  return map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
                      (opcode >= 0xc4 && opcode <= 0xc6));
}

// Of an instruction with a VEX or EVEX prefix; 0: it is none, or is cut off.
std::size_t length_of(std::span<const std::uint8_t> code) {
  std::size_t at = prefixes(code);
  if (at + 2 > code.size()) return 0;
  std::size_t prefix = 0;
  unsigned map = 1;
  switch (code[at]) {
    case kEvex:
      prefix = 4;
      map = code[at + 1] & 7;
      break;
    case kVex3:
      prefix = 3;
      map = code[at + 1] & 0x1f;
      break;
    case kVex2:
      prefix = 2;
      break;
    default:
      return 0;
  }
  std::size_t opcode = at + prefix;
  if (opcode + 2 > code.size()) return 0;
  std::size_t operands = operand_bytes(code.subspan(opcode + 1));
  std::size_t length = opcode + 1 + operands + (has_immediate(map, code[opcode]) ? 1 : 0);
  return operands == 0 || length > code.size() ? 0 : length;
}

}  // namespace

InstrEffects undecoded(std::span<const std::uint8_t> code) {
  InstrEffects effects;
  effects.known = false;
  effects.length = static_cast<std::uint8_t>(length_of(code));
  return effects;
}

std::size_t opcode_of_vbroadcasti128(std::span<const std::uint8_t> code) {
  std::size_t at = prefixes(code);
  bool found = at + 4 < code.size() && code[at] == kVex3 && (code[at + 1] & 0x1f) == 2 &&
               (code[at + 2] & 0x87) == 0x05 && code[at + 3] == 0x5a;
  return found ? at + 3 : 0;
}

bool is_evex(std::span<const std::uint8_t> code) {
  std::size_t at = prefixes(code);
  return at < code.size() && code[at] == kEvex;
}

}  // namespace svd
