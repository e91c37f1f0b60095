// SPDX-License-Identifier: Apache-2.0
//
// A decoder of x86-64 that knows lengths, control flow and addressing, and nothing of what an
// instruction computes: whole binaries are disassembled to find their control flow, most of it code
// that never runs. What a trace executed is decoded by Decoder. A test compares both.
#pragma once

#include <cstdint>
#include <span>

namespace svd {

enum class Flow : std::uint8_t;  // decode/effects.h

// An address in the recorded process, or in a file as it would be loaded at 0.
using Address = std::uint64_t;

// Which opcode table `code` indexes.
enum class OpcodeMap : std::uint8_t { kOneByte, k0f, k0f38, k0f3a, kVector };

struct CodeStep {
  static constexpr std::uint8_t kNone = 0xff;  // no register
  static constexpr std::uint8_t kRip = 0xfe;

  std::uint8_t length = 0;  // 0: these bytes are no instruction
  Flow flow{};
  OpcodeMap map = OpcodeMap::kOneByte;
  std::uint8_t code = 0;
  bool wide = false;    // 64-bit operands
  bool narrow = false;  // 16-bit operands
  bool has_modrm = false;
  bool memory = false;   // the r/m operand is in memory: displacement + base + index * scale
  std::uint8_t reg = 0;  // of ModRM, extended by REX
  std::uint8_t rm = 0;   // register number if !memory; without ModRM, the one in the opcode
  std::uint8_t base = kNone;
  std::uint8_t index = kNone;
  std::uint8_t scale = 1;
  std::uint64_t displacement = 0;  // with base kRip: the address itself
  std::int64_t immediate = 0;
  Address target = 0;  // of a direct jump, branch or call

  bool is(OpcodeMap in, std::uint8_t opcode) const { return map == in && code == opcode; }
  // The digit that extends some opcodes.
  std::uint8_t extension() const { return reg & 7; }
};

// The instruction at the front of `code`, which stands at `pc`.
CodeStep decode_code(std::span<const std::uint8_t> code, Address pc);

// Does nothing: what fills the space between functions and before loops.
bool is_padding(const CodeStep& step);

}  // namespace svd
