// SPDX-License-Identifier: Apache-2.0
//
// A block of the wire, made ready for decoding: what the trace's Block of it is, and where in an
// execution record each address and value stands.
//
// The wire derives quantities from one another (the address of slot 3 is the value of slot 1 plus
// 16). Every such chain ends at a constant or at bytes of the record, so each quantity is resolved
// here, once, to one load, mask and addition, and executions are decoded without looking at chains.
//
// Mailbox stores are no accesses of the program: they have no slot in the trace.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "svd/trace/block.h"
#include "svd/trace/types.h"
#include "svd/wire/ring.h"

namespace svd {

// The eight bytes at `at` of a record, masked, plus a constant.
struct Term {
  std::uint64_t add = 0;
  std::uint64_t mask = 0;
  std::uint32_t at = 0;

  Term() = default;
  // `bytes` of them count; 0: a constant.
  Term(std::uint64_t plus, std::uint32_t place, unsigned bytes)
      : add(plus), mask(kMasks[bytes]), at(place) {}
  std::uint64_t of(const std::uint8_t* record) const {
    std::uint64_t word = 0;
    std::memcpy(&word, record + at, sizeof word);
    return (word & mask) + add;
  }

 private:
  static constexpr std::uint64_t kMasks[9] = {0,
                                              0xff,
                                              0xffff,
                                              0xffffff,
                                              0xffffffff,
                                              0xffffffffff,
                                              0xffffffffffff,
                                              0xffffffffffffff,
                                              ~std::uint64_t{0}};
};

// A slot of the wire, in its order.
struct CodeSlot {
  Term address;
  Term value;
  std::uint16_t instruction = 0;
  std::uint16_t size = 0;
  std::uint16_t present_at = 0;  // always within the slack: it has 64 KiB
  bool write = false;
  bool optional = false;
  std::int8_t mailbox = -1;      // the word, or -1
  std::uint16_t trace_slot = 0;  // the first one of the trace that is not before it

  bool present(const std::uint8_t* record) const { return !optional || record[present_at] != 0; }
};

// What TraceWriter::exec is to be given of an optional slot.
struct OptionalSlot {
  std::uint16_t logged = 0;  // which of the logged words is its address
  std::uint16_t present_at = 0;
};

// A way to leave the block.
struct CodeExit {
  Part part;  // what has run then
  PartId part_id{};
  std::uint32_t record_size = 0;
  std::uint16_t slots = 0;      // of the wire
  std::uint16_t logged = 0;     // words for TraceWriter::exec
  std::uint16_t values = 0;     // the same
  std::uint16_t optionals = 0;  // the same
  bool mail = false;            // mailbox stores are among the slots
  std::uint8_t jump = SVD_WIRE_JUMP;
  std::uint64_t return_address = 0;  // of a call
  std::uint16_t stack_slot = 0;      // where a call pushed it, or a return found it
};

struct CodeBlock {
  BlockId id{};
  Block block;  // as the trace has it
  std::vector<CodeSlot> slots;
  std::vector<CodeExit> exits;
  std::vector<Term> logged;
  std::vector<Term> values;
  std::vector<OptionalSlot> optionals;
  std::vector<std::pair<Part, PartId>> parts;  // that the trace knows

  // The first slot of the trace that belongs to instruction `instruction` or a later one.
  std::uint16_t slot_at(std::uint16_t instruction) const;
};

// `record`: a whole SVD_WIRE_BLOCK record. `values`: they are recorded in this run. Nothing when
// the record contradicts itself; then nothing behind it can be decoded either.
std::optional<CodeBlock> read_block(std::span<const std::uint8_t> record, bool values);

}  // namespace svd
