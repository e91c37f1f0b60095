// SPDX-License-Identifier: Apache-2.0
//
// A block's slots as encoder and decoder see them: how the address of each is predicted, and its
// value. Both sides run the same code_stride and code_value over the same predictors in the same
// order, hence agree.
#pragma once

#include <cstdint>
#include <vector>

#include "predict.h"
#include "svd/trace/chunk.h"

namespace svd {

struct SlotOp {
  enum Kind : std::uint8_t { kPredict, kConstant, kDerive };
  std::uint64_t offset = 0;
  std::uint32_t predictor = 0;  // of the static slot, within the chunk
  std::uint16_t base = 0;       // kDerive: index into the same execution's addresses
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

// Appends the operations of `shape`, whose block's predictors start at `first_predictor`.
inline OpSpan append_ops(const Shape& shape, std::uint32_t first_predictor,
                         std::vector<SlotOp>& ops) {
  OpSpan span{static_cast<std::uint32_t>(ops.size()), shape.accesses};
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
    const Slot& slot = shape.block->slots[i];
    SlotOp op;
    op.write = slot.write;
    op.range = slot.is_range();
    op.value_bytes = slot.has_value() ? static_cast<std::uint8_t>(slot.size & 15) : std::uint8_t{0};
    op.reach = static_cast<std::uint8_t>((slot.size + 31) / 32);
    op.predictor = first_predictor + i;
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

// Last value plus stride; a miss is coded as the distance from the last value.
template <class Coder>
[[gnu::always_inline]] inline std::uint64_t code_stride(Coder& coder, StridePredictor& predictor,
                                                        std::uint64_t actual) {
  std::uint64_t predicted = predictor.predict();
  if (coder.hit(predicted == actual)) {
    actual = predicted;
  } else {
    actual = predictor.last + unzigzag(coder.residual(zigzag(actual - predictor.last)));
  }
  predictor.update(actual);
  return actual;
}

// The difference of two values that leave `unused` high bits free, as a signed number.
inline std::uint64_t sign_extend(std::uint64_t value, unsigned unused) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

// A load is predicted to return what was last seen at its address; when it does, nothing has to be
// learned. A store, and what crosses a word, is predicted as the slot's last value plus stride. A
// miss is coded as the signed distance to the slot's last value, so that small changes stay small
// in any width. `actual` has no bits beyond op.value_bytes.
template <class Coder>
[[gnu::always_inline]] inline std::uint64_t code_value(Coder& coder, ValueCache& cache,
                                                       const SlotOp& op, StridePredictor& predictor,
                                                       std::uint64_t address,
                                                       std::uint64_t actual) {
  if (op.value_bytes == 8 && (address & 7) == 0) {
    // The same as below without the shifts, for what is most common.
    std::uint64_t& word = cache.word(address >> 3);
    std::uint64_t predicted = op.write ? predictor.predict() : word;
    if (coder.hit(predicted == actual)) {
      if (!op.write) return predicted;
      actual = predicted;
    } else {
      actual = predictor.last + unzigzag(coder.residual(zigzag(actual - predictor.last)));
    }
    predictor.update(actual);
    return word = actual;
  }
  unsigned unused = 64U - 8U * op.value_bytes;
  std::uint64_t mask = ~std::uint64_t{0} >> unused;
  unsigned shift = 8 * (address & 7);
  bool within = shift <= unused;
  std::uint64_t& word = cache.word(address >> 3);
  bool by_cache = within && !op.write;
  std::uint64_t predicted = by_cache ? word >> shift & mask : predictor.predict() & mask;
  if (coder.hit(predicted == actual)) {
    actual = predicted;
    if (by_cache) return actual;
  } else {
    std::uint64_t distance = coder.residual(zigzag(sign_extend(actual - predictor.last, unused)));
    actual = (predictor.last + unzigzag(distance)) & mask;
  }
  predictor.update(actual);
  if (within) word = (word & ~(mask << shift)) | actual << shift;
  return actual;
}

}  // namespace svd
