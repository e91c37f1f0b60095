// SPDX-License-Identifier: Apache-2.0
//
// Encoding, slots, and jumps that are filled in at the end.

#include "support/example_trace_assembler.h"

#include <string>
#include <utility>

namespace svd::example {

std::uint32_t Assembler::open(Action action) {
  program.code.emplace_back().action = action;
  stack_ = 0;
  stack_root_ = session_root_ = -1;
  return next() - 1;
}

Program Assembler::finish() {
  for (const Fixup& fixup : fixups_) {
    std::uint64_t target = program.code[fixup.target].block.instructions[0].pc.value;
    std::uint64_t distance = target - fixup.end;
    std::uint8_t* bytes = program.code[fixup.code].block.code.data() + fixup.offset;
    for (int shift = 0; shift < 32; shift += 8)
      *bytes++ = static_cast<std::uint8_t>(distance >> shift);
  }
  return std::move(program);
}

void Assembler::op(Bytes bytes) {
  Block& block = code().block;
  block.instructions.push_back({Pc(pc_), static_cast<std::uint8_t>(bytes.size())});
  block.code.insert(block.code.end(), bytes);
  pc_ += bytes.size();
}

void Assembler::op_relative(Bytes opcode, std::uint64_t target, Bytes immediate) {
  op(opcode);
  std::uint64_t distance = target - (pc_ + 4 + immediate.size());
  Block& block = code().block;
  for (int shift = 0; shift < 32; shift += 8)
    block.code.push_back(static_cast<std::uint8_t>(distance >> shift));
  block.code.insert(block.code.end(), immediate);
  block.instructions.back().length =
      static_cast<std::uint8_t>(opcode.size() + 4 + immediate.size());
  pc_ += 4 + immediate.size();
}

void Assembler::flow(Flow kind, Bytes opcode, std::uint32_t target, std::uint32_t chance) {
  code().flow = kind, code().target = target, code().chance = chance;
  jump(opcode, target);
}

void Assembler::side_exit(std::uint32_t target) {
  jump({0x0f, 0x84}, target);
  code().side_exit = static_cast<std::uint16_t>(code().block.size());
  code().side_target = target;
}

void Assembler::call(std::uint32_t function) {
  flow(Flow::kCall, {0xe8}, function);
  stack_access(-8, true, {.store = Store::kConstant, .constant = pc_});
  code().stack_change = stack_ - 8;
}

void Assembler::pop_frame_and_return() {
  op({0x48, 0x83, 0xc4, 0x40});
  stack_ += 64;
  op({0x5d});  // pop rbp
  stack_access(0, false);
  stack_ += 8;
  op({0xc3});
  stack_access(0, false);
  code().flow = Flow::kReturn;
  code().stack_change = stack_ + 8;
}

void Assembler::push_frame() {
  op({0x55});  // push rbp
  stack_access(-8, true, {.store = Store::kFrame});
  stack_ -= 8;
  op({0x48, 0x83, 0xec, 0x40});  // sub rsp, 64
  stack_ -= 64;
  code().stack_change = stack_;
}

Slot& Assembler::access(Place place, std::uint16_t size, bool write, std::uint32_t where,
                        Plan plan) {
  Block& block = code().block;
  Slot slot;
  slot.instruction = static_cast<std::uint16_t>(block.size() - 1);
  slot.size = size;
  slot.write = write;
  if (place == Place::kGlobal) slot.source = AddressSource::kConstant, slot.offset = where;
  plan.place = place;
  plan.where = where;
  block.slots.push_back(slot);
  code().plans.push_back(plan);
  return block.slots.back();
}

void Assembler::stack_access(std::int32_t offset, bool write, Plan plan) {
  auto where = static_cast<std::uint32_t>(stack_ + offset);
  derive(access(Place::kStack, 8, write, where, plan), stack_root_, where);
}

void Assembler::session_access(std::uint32_t offset, bool write) {
  derive(access(Place::kSession, 4, write, offset), session_root_, offset);
}

void Assembler::function_symbol(std::string_view name, std::uint32_t first) {
  std::uint64_t begin = program.code[first].block.instructions[0].pc.value;
  program.symbols.push_back({std::string(name), SymbolKind::kFunction, begin, pc_ - begin});
}

void Assembler::jump(Bytes opcode, std::uint32_t target) {
  op_relative(opcode, 0);
  fixups_.push_back({next() - 1, code().block.code.size() - 4, pc_, target});
}

void Assembler::derive(Slot& slot, std::int32_t& root, std::uint32_t where) {
  if (root < 0) {
    root = static_cast<std::int32_t>(code().plans.size()) - 1;
    return;
  }
  slot.source = AddressSource::kSlot;
  slot.base = static_cast<std::uint16_t>(root);
  slot.offset = static_cast<std::uint64_t>(static_cast<std::int64_t>(
      static_cast<std::int32_t>(where - code().plans[static_cast<std::size_t>(root)].where)));
}

}  // namespace svd::example
