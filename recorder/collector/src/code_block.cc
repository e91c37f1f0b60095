// SPDX-License-Identifier: Apache-2.0

#include "code_block.h"

#include <algorithm>
#include <array>
#include <utility>

namespace svd {
namespace {

// Takes arrays off the front of a record.
class Parser {
 public:
  explicit Parser(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  bool take(std::vector<T>& out, std::size_t count) {
    if (count > bytes_.size() / sizeof(T)) return false;
    out.resize(count);
    if (count > 0) std::memcpy(out.data(), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
    return true;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct WireParts {
  std::vector<SvdWireInstruction> instructions;
  std::vector<SvdWireSlot> slots;
  std::vector<SvdWireExit> exits;
  std::vector<std::uint8_t> code;
};

class Builder {
 public:
  Builder(const WireParts& wire, bool values) : wire_(wire), values_(values) {}

  std::optional<CodeBlock> build() {
    for (const SvdWireInstruction& instruction : wire_.instructions)
      out_.block.instructions.push_back(
          {Pc(instruction.pc), static_cast<std::uint8_t>(instruction.length)});
    out_.block.code = wire_.code;
    prefix_.push_back({});
    for (const SvdWireSlot& slot : wire_.slots) {
      if (!add_slot(slot)) return std::nullopt;
    }
    for (const SvdWireExit& exit : wire_.exits) {
      if (!add_exit(exit)) return std::nullopt;
    }
    if (out_.exits.empty() || !block_problem(out_.block).empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // How much of everything the first n slots of the wire make.
  struct Prefix {
    std::uint16_t slots = 0, logged = 0, values = 0, optionals = 0;
    bool mail = false;
  };

  // `known`: how many slots it may derive from.
  bool resolve(const SvdWireQuantity& quantity, unsigned bytes, std::size_t known,
               Term& term) const {
    switch (quantity.source) {
      case SVD_WIRE_ABSENT:
        return true;
      case SVD_WIRE_LOGGED:
        term = Term{0, quantity.at, std::min(bytes, 8U)};
        return quantity.at + 8 <= SVD_WIRE_SLACK;
      case SVD_WIRE_CONSTANT:
        term = Term{quantity.constant, 0, 0};
        return true;
      case SVD_WIRE_ADDRESS_OF:
      case SVD_WIRE_VALUE_OF:
        if (quantity.slot >= known) return false;
        term = quantity.source == SVD_WIRE_ADDRESS_OF ? base(quantity.slot).address
                                                      : base(quantity.slot).value;
        term.add += quantity.constant;
        return true;
      default:
        return false;
    }
  }

  // A value can derive from the address of its own slot.
  const CodeSlot& base(std::size_t slot) const {
    return slot == out_.slots.size() ? current_ : out_.slots[slot];
  }

  bool add_slot(const SvdWireSlot& wire) {
    if (wire.instruction >= wire_.instructions.size()) return false;
    current_ = CodeSlot{};
    current_.instruction = wire.instruction;
    current_.size = wire.size;
    current_.present_at = wire.present_at;
    current_.write = (wire.flags & SVD_WIRE_WRITE) != 0;
    current_.optional = (wire.flags & SVD_WIRE_OPTIONAL) != 0;
    current_.trace_slot = static_cast<std::uint16_t>(out_.block.slots.size());
    std::size_t before = out_.slots.size();
    if (!resolve(wire.address, 8, before, current_.address)) return false;
    if (!resolve(wire.value, wire.size, before + 1, current_.value)) return false;
    if (wire.address.source == SVD_WIRE_CONSTANT &&
        wire.address.constant - SVD_WIRE_MAILBOX < 8 * SVD_WIRE_MAILBOX_WORDS) {
      current_.mailbox = static_cast<std::int8_t>((wire.address.constant - SVD_WIRE_MAILBOX) / 8);
    } else {
      add_trace_slot(wire);
    }
    out_.slots.push_back(current_);
    prefix_.push_back({static_cast<std::uint16_t>(out_.block.slots.size()),
                       static_cast<std::uint16_t>(out_.logged.size()),
                       static_cast<std::uint16_t>(out_.values.size()),
                       static_cast<std::uint16_t>(out_.optionals.size()),
                       prefix_.back().mail || current_.mailbox >= 0});
    return true;
  }

  void add_trace_slot(const SvdWireSlot& wire) {
    Slot slot;
    slot.instruction = wire.instruction;
    slot.size = wire.size;
    slot.write = current_.write;
    slot.atomic = (wire.flags & SVD_WIRE_ATOMIC) != 0;
    slot.optional = current_.optional;
    if (wire.address.source == SVD_WIRE_CONSTANT && !slot.optional) {
      slot.source = AddressSource::kConstant;
      slot.offset = wire.address.constant;
    } else if (wire.address.source == SVD_WIRE_ADDRESS_OF && !slot.optional) {
      const CodeSlot& from = out_.slots[wire.address.slot];
      if (!from.optional && from.mailbox < 0) {
        slot.source = AddressSource::kSlot;
        slot.base = from.trace_slot;
        slot.offset = wire.address.constant;
      }
    }
    if (slot.optional)
      out_.optionals.push_back({static_cast<std::uint16_t>(out_.logged.size()), wire.present_at});
    if (slot.source == AddressSource::kLogged) out_.logged.push_back(current_.address);
    // The trace has a value for every access that fits a register; one of which it is not known
    // (of a helper of Valgrind) stands there as a range.
    if (values_ && slot.has_value() && wire.value.source == SVD_WIRE_ABSENT) {
      slot.size = 0;
      out_.logged.push_back(Term{wire.size, 0, 0});
    }
    if (slot.has_value()) out_.values.push_back(current_.value);
    out_.block.slots.push_back(slot);
  }

  bool add_exit(const SvdWireExit& wire) {
    if (wire.instructions == 0 || wire.instructions > wire_.instructions.size() ||
        wire.slots > wire_.slots.size() || wire.record_size < sizeof(std::uint32_t) ||
        wire.record_size > SVD_WIRE_SLACK)
      return false;
    const Prefix& prefix = prefix_[wire.slots];
    CodeExit exit;
    exit.part = Part{0, wire.instructions, 0, prefix.slots};
    exit.record_size = wire.record_size;
    exit.slots = wire.slots;
    exit.logged = prefix.logged;
    exit.values = prefix.values;
    exit.optionals = prefix.optionals;
    exit.mail = prefix.mail;
    exit.jump = static_cast<std::uint8_t>(wire.jump);
    const SvdWireInstruction& last = wire_.instructions[wire.instructions - 1U];
    exit.return_address = last.pc + last.length;
    // Both push and pop it with their last access.
    bool moves_stack = exit.jump == SVD_WIRE_CALL || exit.jump == SVD_WIRE_RETURN;
    if (moves_stack && wire.slots > 0 && out_.slots[wire.slots - 1U].mailbox < 0)
      exit.stack_slot = static_cast<std::uint16_t>(wire.slots - 1U);
    else
      exit.jump = SVD_WIRE_JUMP;
    out_.exits.push_back(exit);
    return true;
  }

  const WireParts& wire_;
  bool values_;
  CodeBlock out_;
  CodeSlot current_;
  std::vector<Prefix> prefix_;
};

}  // namespace

std::uint16_t CodeBlock::slot_at(std::uint16_t instruction) const {
  auto at = std::partition_point(
      block.slots.begin(), block.slots.end(),
      [instruction](const Slot& slot) { return slot.instruction < instruction; });
  return static_cast<std::uint16_t>(at - block.slots.begin());
}

std::optional<CodeBlock> read_block(std::span<const std::uint8_t> record, bool values) {
  SvdWireBlock head;
  if (record.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, record.data(), sizeof head);
  Parser parser(record.subspan(sizeof head));
  WireParts wire;
  if (!parser.take(wire.instructions, head.instructions) || !parser.take(wire.slots, head.slots) ||
      !parser.take(wire.exits, head.exits) || !parser.take(wire.code, head.code_size))
    return std::nullopt;
  return Builder(wire, values).build();
}

}  // namespace svd
