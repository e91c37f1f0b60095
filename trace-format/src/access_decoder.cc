// SPDX-License-Identifier: Apache-2.0

#include "access_decoder.h"

#include <algorithm>

namespace svd {

void AccessDecoder::append(const Shape& shape, std::uint32_t first_predictor) {
  Plan plan;
  plan.extent.accesses = shape.accesses;
  plan.extent.ranges = shape.ranges;
  plan.first_access = static_cast<std::uint32_t>(ops_.size());
  plan.first_logged = static_cast<std::uint32_t>(logged_predictors_.size());
  plan.first_range = static_cast<std::uint32_t>(range_predictors_.size());
  plan.first_store = static_cast<std::uint32_t>(stores_.size());
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
    const Slot& slot = shape.block->slots[i];
    Op op;
    std::uint32_t predictor = first_predictor + i;
    std::uint32_t root = 0;
    if (is_logged(slot, shape.part)) {
      root = ++plan.extent.logged;
      logged_predictors_.push_back(predictor);
    } else {
      op.offset = slot.offset;
      if (slot.source == AddressSource::kSlot) {
        std::size_t base = plan.first_access + slot.base - shape.part.first_slot;
        op.offset += ops_[base].offset;
        root = roots_[base];
      }
    }
    if (slot.is_range()) range_predictors_.push_back(predictor);
    if (slot.has_value()) {
      op.mask = kLowBytes[slot.size & 15];
      optional_ = optional_ || slot.optional;
      if (slot.write) {
        ++plan.extent.stores;
        store_predictors_.push_back(predictor);
        stores_.push_back(static_cast<std::uint32_t>(ops_.size()) - plan.first_access);
      }
    }
    ops_.push_back(op);
    predictors_.push_back(predictor);
    roots_.push_back(root);
    rooted_.push_back(root == 0 ? 0 : ~0U);
  }
  plans_.push_back(plan);
}

void AccessDecoder::start(std::span<const Shape> shapes, std::size_t block_count,
                          const ColumnSet<std::span<const std::uint8_t>>& columns, bool values) {
  for (std::uint32_t block : used_blocks_) first_predictor_[block] = 0;
  used_blocks_.clear();
  if (first_predictor_.size() < block_count) first_predictor_.resize(block_count);
  plans_.clear();
  ops_.clear();
  optional_ = false;
  for (auto* list : {&predictors_, &roots_, &rooted_, &logged_predictors_, &range_predictors_,
                     &store_predictors_, &stores_})
    list->clear();
  std::uint32_t predictors = 1;
  for (const Shape& shape : shapes) {
    std::uint32_t& first = first_predictor_[shape.id.value];
    if (first == 0) {
      first = predictors;
      predictors += static_cast<std::uint32_t>(shape.block->slots.size());
      used_blocks_.push_back(shape.id.value);
    }
    append(shape, first);
  }
  for (auto* list : {&roots_, &rooted_, &logged_predictors_, &store_predictors_, &stores_})
    list->resize(list->size() + kGroup);
  address_predictors_.assign(predictors, {});
  length_predictors_.assign(predictors, {});
  address_stream_ = MissDecoder(columns.addresses);
  length_stream_ = MissDecoder(columns.lengths);
  if (values) {
    store_values_.assign(predictors, {});
    missed_loads_.assign(predictors, 0);
    load_stream_ = MissDecoder(columns.loads);
    store_stream_ = MissDecoder(columns.stores);
    cache_.reset();
  }
}

void AccessDecoder::decode(const Extent& turn, std::uint64_t* addresses, std::uint64_t* lengths,
                           std::uint64_t* values) {
  decode_strides(
      address_stream_, turn.logged, address_predictors_.data(), turn_->logged_predictors.data(),
      [logged = turn_->logged.data() + 1](auto i, auto address) { logged[i] = address; });
  if (turn.ranges > 0) {
    decode_strides(length_stream_, turn.ranges, length_predictors_.data(),
                   turn_->range_predictors.data(),
                   [lengths](auto i, auto length) { lengths[i] = length; });
  }
  if (values == nullptr) {
    place(turn.accesses, addresses);
    return;
  }
  decode_told(turn);
  if (optional_) {
    place_and_load<true>(turn.accesses, addresses, values);
  } else {
    place_and_load<false>(turn.accesses, addresses, values);
  }
}

void AccessDecoder::decode_strides(MissDecoder& stream, std::size_t count,
                                   StridePredictor* predictors, const std::uint32_t* numbers,
                                   auto&& put) {
  stream.next(count, turn_->missed.data(), turn_->residuals.data());
  const Turn& turn = *turn_;
  for (std::size_t i = 0; i < count; ++i) {
    StridePredictor predictor = predictors[numbers[i]];
    put(i, predictor.step(turn.missed[i], turn.residuals[i]));
    predictors[numbers[i]] = predictor;
  }
}

void AccessDecoder::place(std::size_t count, std::uint64_t* addresses) const {
  const Turn& turn = *turn_;
  const Op* ops = ops_.data();
  for (std::size_t i = 0; i < count; ++i)
    addresses[i] = ops[turn.ops[i]].offset + turn.logged[turn.roots[i]];
}

void AccessDecoder::decode_told(const Extent& turn) {
  Turn& to = *turn_;
  std::fill_n(to.told.data(), turn.accesses, std::int8_t{0});
  std::fill_n(to.values.data(), turn.accesses, 0);
  load_stream_.misses(turn.accesses, [&](std::uint64_t i, std::uint64_t residual) {
    to.told[i] = -1;
    to.values[i] = missed_loads_[predictors_[to.ops[i]]] += residual;
  });
  decode_strides(store_stream_, turn.stores, store_values_.data(), to.store_predictors.data(),
                 [&to](std::size_t i, std::uint64_t value) {
                   to.told[to.stores[i]] = -1;
                   to.values[to.stores[i]] = value;
                 });
}

template <bool kOptional>
void AccessDecoder::place_and_load(std::size_t count, std::uint64_t* addresses,
                                   std::uint64_t* values) {
  const Turn& turn = *turn_;
  const Op* ops = ops_.data();
  std::uint64_t* words = cache_.words();
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = ops[turn.ops[i]];
    std::uint64_t address = op.offset + turn.logged[turn.roots[i]];
    addresses[i] = address;
    std::uint64_t mask = op.mask;
    if constexpr (kOptional) mask &= 0 - std::uint64_t{address != kAbsent.value};
    std::uint64_t shift = 8 * (address & 7);
    std::uint64_t& word = words[ValueCache::place(address)];
    std::uint64_t seen = word >> shift;
    auto told = static_cast<std::uint64_t>(std::int64_t{turn.told[i]});
    std::uint64_t value = ((seen & ~told) | turn.values[i]) & mask;
    word ^= (value ^ (seen & mask)) << shift;
    values[i] = value;
  }
}

}  // namespace svd
