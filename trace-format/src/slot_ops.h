// SPDX-License-Identifier: Apache-2.0
//
// A block's slots as the encoder sees them: how the address of each is predicted, and its value.
#pragma once

#include <cstdint>
#include <vector>

#include "predict.h"
#include "svd/trace/chunk.h"

namespace svd {

struct SlotOp {
  enum Kind : std::uint8_t { kPredict, kConstant, kDerive };
  std::uint64_t offset = 0;
  std::uint16_t base = 0;  // kDerive: index into the same execution's addresses
  Kind kind : 2 = kPredict;
  std::uint8_t write : 1 = 0;
  std::uint8_t range : 1 = 0;
  std::uint8_t value_bytes : 4 = 0;  // 0: no value
  std::uint8_t reach = 0;            // size in units of 32 bytes, rounded up
};
static_assert(sizeof(SlotOp) == 16);

// The operations of one shape, in one array for all.
struct OpSpan {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Appends the operations of `shape`.
inline OpSpan append_ops(const Shape& shape, std::vector<SlotOp>& ops) {
  OpSpan span{static_cast<std::uint32_t>(ops.size()), shape.accesses};
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
    const Slot& slot = shape.block->slots[i];
    SlotOp op;
    op.write = slot.write;
    op.range = slot.is_range();
    op.value_bytes = slot.has_value() ? static_cast<std::uint8_t>(slot.size & 15) : std::uint8_t{0};
    op.reach = static_cast<std::uint8_t>((slot.size + 31) / 32);
    op.offset = slot.offset;
    if (is_logged(slot, shape.part)) {
      op.kind = SlotOp::kPredict;
    } else if (slot.source == AddressSource::kConstant) {
      op.kind = SlotOp::kConstant;
    } else {
      op.kind = SlotOp::kDerive;
      op.base = static_cast<std::uint16_t>(slot.base - shape.part.first_slot);
    }
    ops.push_back(op);
  }
  return span;
}

}  // namespace svd
