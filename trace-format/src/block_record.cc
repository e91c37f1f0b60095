// SPDX-License-Identifier: Apache-2.0
//
// The record of a static block: unlike all others not made from a list of fields, because addresses
// and slots are coded as distances.

#include "chunk_columns.h"

namespace svd {

void put_block(Bytes& out, const Block& block) {
  put_varint(out, block.instructions.size());
  Pc expected;
  for (const Instruction& instruction : block.instructions) {
    put_varint(out, zigzag(instruction.pc - expected));
    out.push_back(instruction.length);
    expected = instruction.pc + instruction.length;
  }
  put_bytes(out, block.code.data(), block.code.size());
  put_varint(out, block.statements.size());
  for (StatementId statement : block.statements) put_varint(out, statement.value);
  put_varint(out, block.slots.size());
  std::uint16_t last = 0;
  for (const Slot& slot : block.slots) {
    out.push_back(static_cast<std::uint8_t>(
        static_cast<unsigned>(slot.source) | static_cast<unsigned>(slot.role) << 2 |
        (slot.write ? 16U : 0U) | (slot.atomic ? 32U : 0U) | (slot.optional ? 64U : 0U)));
    put_varint(out, static_cast<std::uint64_t>(slot.instruction - last));
    put_varint(out, slot.size);
    put_varint(out, slot.base);
    put_varint(out, zigzag(slot.offset));
    last = slot.instruction;
  }
}

bool get_block(ByteReader& in, Block& block) {
  std::uint64_t count = in.varint();
  if (count > kMaxBlockInstructions) return false;
  Pc pc;
  std::size_t code = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    pc += unzigzag(in.varint());
    auto length = in.bytes(1);
    if (length.empty()) return false;
    block.instructions.push_back({pc, length[0]});
    pc += length[0];
    code += length[0];
  }
  auto bytes = in.bytes(code);
  block.code.assign(bytes.begin(), bytes.end());
  count = in.varint();
  if (count > kMaxBlockInstructions) return false;
  for (std::uint64_t i = 0; i < count; ++i)
    block.statements.emplace_back(static_cast<std::uint32_t>(in.varint()));
  count = in.varint();
  if (count > kMaxBlockSlots || count > in.left()) return false;
  std::uint64_t instruction = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto flags = in.bytes(1);
    if (flags.empty()) return false;
    Slot slot;
    unsigned source = flags[0] & 3U;
    unsigned role = (flags[0] >> 2) & 3U;
    if (source > 2 || role > 2 || flags[0] >= 128) return false;
    slot.source = static_cast<AddressSource>(source);
    slot.role = static_cast<Role>(role);
    slot.write = (flags[0] & 16U) != 0;
    slot.atomic = (flags[0] & 32U) != 0;
    slot.optional = (flags[0] & 64U) != 0;
    instruction += in.varint();
    std::uint64_t size = in.varint();
    std::uint64_t base = in.varint();
    slot.offset = unzigzag(in.varint());
    if (instruction > 0xFFFF || size > 0xFFFF || base > 0xFFFF) return false;
    slot.instruction = static_cast<std::uint16_t>(instruction);
    slot.size = static_cast<std::uint16_t>(size);
    slot.base = static_cast<std::uint16_t>(base);
    block.slots.push_back(slot);
  }
  return !in.failed() && block_problem(block).empty();
}

}  // namespace svd
