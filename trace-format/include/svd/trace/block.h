// SPDX-License-Identifier: Apache-2.0
//
// The static side of a trace: what code is, as opposed to what happened.
//
// A Block is a straight-line run of instructions that execution enters at the top; a dynamic
// execution of it may stop early. Its Slots say which memory accesses each instruction makes, so
// that a reader needs no disassembler to give every access its instruction, size and direction, and
// so that only what cannot be derived is stored per execution.
//
// In place of machine code a block may hold abstract Statements (from hand-written traces and
// imported logs). Everything above the trace treats both alike: an instruction is the index into
// the block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

// Where the address of a slot comes from.
enum class AddressSource : std::uint8_t {
  kLogged,    // stored per execution
  kConstant,  // always `offset`
  kSlot,      // the address of slot `base` of the same execution, plus `offset`
};

// What a read is used for. Machine code leaves it kValue: the decoder knows better.
enum class Role : std::uint8_t { kValue, kAddress, kCondition };

// One memory access of one instruction. A read-modify-write is two slots, the read first.
// Invariants: slots of a block are ordered by instruction, then operand order; a kSlot base
// precedes its slot and is not optional; an optional slot is kLogged.
struct Slot {
  std::uint16_t instruction = 0;
  std::uint16_t size =
      0;  // bytes, at most kMaxSlotBytes; 0: a range, its length is stored per execution
  bool write = false;
  bool atomic = false;    // locked, or otherwise indivisible
  bool optional = false;  // may not happen: address kAbsent
  Role role = Role::kValue;
  AddressSource source = AddressSource::kLogged;
  std::uint16_t base = 0;    // kSlot only
  std::uint64_t offset = 0;  // kConstant: the address; kSlot: added to the base, modulo 2^64

  bool is_range() const { return size == 0; }
  // Values are kept for accesses that fit a register.
  bool has_value() const { return size != 0 && size <= 8; }
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct Instruction {
  Pc pc{};
  std::uint8_t length = 0;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// Exactly one of `instructions` (with `code`, their bytes one after the other) and `statements` is
// filled.
struct Block {
  std::vector<Instruction> instructions{};
  std::vector<std::uint8_t> code{};
  std::vector<StatementId> statements{};
  std::vector<Slot> slots{};

  bool abstract() const { return !statements.empty(); }
  std::size_t size() const { return abstract() ? statements.size() : instructions.size(); }
  friend bool operator==(const Block&, const Block&) = default;
};

// A statement of a program that is not machine code: "3.09", `buf->outcnt += len`, log.c:1327.
struct Statement {
  std::string label{};
  std::string text{};
  std::string function{};
  std::string file{};
  std::uint32_t line = 0;
  std::vector<StatementId>
      controlled_by{};  // predicates whose last instance in the thread decides about this one
  static constexpr void fields(auto& s, auto&& f) {
    f("label", s.label), f("text", s.text), f("function", s.function), f("file", s.file),
        f("line", s.line), f("controlled-by", s.controlled_by);
  }
  friend bool operator==(const Statement&, const Statement&) = default;
};

// The part of a block that one dynamic execution ran. A part that starts inside an instruction (the
// recorder can hand over between the load and the store of one instruction) has `first_slot` past
// that instruction's first slot; the instruction then is one step in each of the two parts.
struct Part {
  std::uint16_t first = 0;  // instructions [first, end)
  std::uint16_t end = 0;
  std::uint16_t first_slot = 0;  // slots [first_slot, end_slot)
  std::uint16_t end_slot = 0;

  static Part whole(const Block& block);
  // Instructions [first, end) with all their slots.
  static Part of(const Block& block, std::uint16_t first, std::uint16_t end);
  std::uint32_t steps() const { return static_cast<std::uint32_t>(end - first); }
  friend bool operator==(const Part&, const Part&) = default;
};

// Whether the address of slot `index` is stored with an execution of `part`: it cannot be derived,
// or what it derives from lies outside the part.
inline bool is_logged(const Slot& slot, const Part& part) {
  return slot.source == AddressSource::kLogged ||
         (slot.source == AddressSource::kSlot && slot.base < part.first_slot);
}

// Limits that the writer keeps and the reader insists on.
inline constexpr std::size_t kMaxBlockInstructions = 4096;
inline constexpr std::size_t kMaxBlockSlots = 16384;
inline constexpr std::size_t kMaxSlotBytes = 4096;

// The sentence that says which invariant `block` breaks; empty when it breaks none.
std::string block_problem(const Block& block);

}  // namespace svd
