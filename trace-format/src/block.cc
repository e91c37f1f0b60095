// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/block.h"

#include <fmt/format.h>

#include <algorithm>

namespace svd {

Part Part::whole(const Block& block) {
  return Part{0, static_cast<std::uint16_t>(block.size()), 0,
              static_cast<std::uint16_t>(block.slots.size())};
}

Part Part::of(const Block& block, std::uint16_t first, std::uint16_t end) {
  auto slot_at = [&](std::uint16_t instruction) {
    auto at = std::partition_point(block.slots.begin(), block.slots.end(), [&](const Slot& slot) {
      return slot.instruction < instruction;
    });
    return static_cast<std::uint16_t>(at - block.slots.begin());
  };
  return Part{first, end, slot_at(first), slot_at(end)};
}

std::string block_problem(const Block& block) {
  if (block.size() == 0) return "it has neither instructions nor statements";
  if (!block.statements.empty() && !block.instructions.empty())
    return "it has both instructions and statements";
  if (block.size() > kMaxBlockInstructions)
    return fmt::format("it has {} instructions", block.size());
  if (block.slots.size() > kMaxBlockSlots)
    return fmt::format("it has {} slots", block.slots.size());
  std::size_t code = 0;
  for (const Instruction& instruction : block.instructions) code += instruction.length;
  if (code != block.code.size()) {
    return fmt::format("its instructions are {} bytes long but its code is {}", code,
                       block.code.size());
  }
  for (std::size_t i = 0; i < block.slots.size(); ++i) {
    const Slot& slot = block.slots[i];
    if (slot.instruction >= block.size())
      return fmt::format("slot {} belongs to no instruction", i);
    if (i > 0 && slot.instruction < block.slots[i - 1].instruction)
      return fmt::format("slot {} is out of order", i);
    if (slot.size > kMaxSlotBytes) return fmt::format("slot {} is {} bytes wide", i, slot.size);
    bool derived = slot.source == AddressSource::kSlot;
    if ((slot.base != 0 && !derived) ||
        (slot.offset != 0 && slot.source == AddressSource::kLogged)) {
      return fmt::format("slot {} has a base or offset that it does not use", i);
    }
    if (slot.optional && slot.source != AddressSource::kLogged)
      return fmt::format("slot {} is optional but not logged", i);
    if (derived && (slot.base >= i || block.slots[slot.base].optional)) {
      return fmt::format("slot {} derives its address from slot {}", i, slot.base);
    }
  }
  return {};
}

}  // namespace svd
