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
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
    const Slot& slot = shape.block->slots[i];
    Op op;
    op.predictor = first_predictor + i;
    op.load = slot.write ? 0 : -1;
    op.valued = slot.has_value() ? 1 : 0;
    op.value_bytes = slot.has_value() ? static_cast<std::uint8_t>(slot.size) : std::uint8_t{0};
    plan.extent.valued += op.valued;
    std::uint32_t root = 0;
    if (is_logged(slot, shape.part)) {
      root = ++plan.extent.logged;
      logged_predictors_.push_back(op.predictor);
    } else {
      op.offset = slot.offset;
      if (slot.source == AddressSource::kSlot) {
        std::size_t base = plan.first_access + slot.base - shape.part.first_slot;
        op.offset += ops_[base].offset;
        root = roots_[base];
      }
    }
    if (slot.is_range()) range_predictors_.push_back(op.predictor);
    ops_.push_back(op);
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
  for (auto* list : {&roots_, &rooted_, &logged_predictors_, &range_predictors_}) list->clear();
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
  for (auto* list : {&roots_, &rooted_, &logged_predictors_}) list->resize(list->size() + kGroup);
  address_predictors_.assign(predictors, {});
  length_predictors_.assign(predictors, {});
  address_stream_ = MissDecoder(columns.addresses);
  length_stream_ = MissDecoder(columns.lengths);
  if (values) {
    value_predictors_.assign(predictors, {});
    value_stream_ = MissDecoder(columns.values);
    cache_.reset();
    ahead_ = 0;
  }
}

void AccessDecoder::decode(const Extent& turn, std::uint64_t* addresses, std::uint64_t* lengths,
                           std::uint64_t* values) {
  decode_strides(address_stream_, turn.logged, address_predictors_.data(),
                 turn_->logged_predictors.data(), turn_->logged.data() + 1);
  if (turn.ranges > 0) {
    decode_strides(length_stream_, turn.ranges, length_predictors_.data(),
                   turn_->range_predictors.data(), lengths);
  }
  if (values == nullptr) {
    place(turn.accesses, addresses);
  } else {
    read_ahead(turn.valued);
    place_and_decode_values(turn.accesses, addresses, values);
  }
}

void AccessDecoder::decode_strides(MissDecoder& stream, std::size_t count,
                                   StridePredictor* predictors, const std::uint32_t* numbers,
                                   std::uint64_t* out) {
  stream.next(count, turn_->missed.data(), turn_->residuals.data());
  const Turn& turn = *turn_;
  for (std::size_t i = 0; i < count; ++i) {
    StridePredictor predictor = predictors[numbers[i]];
    out[i] = predictor.step(turn.missed[i], turn.residuals[i]);
    predictors[numbers[i]] = predictor;
  }
}

void AccessDecoder::place(std::size_t count, std::uint64_t* addresses) const {
  const Turn& turn = *turn_;
  const Op* ops = ops_.data();
  for (std::size_t i = 0; i < count; ++i)
    addresses[i] = ops[turn.ops[i]].offset + turn.logged[turn.roots[i]];
}

void AccessDecoder::read_ahead(std::size_t values) {
  if (values <= ahead_) return;
  value_stream_.next(values - ahead_, turn_->value_missed.data() + ahead_,
                     turn_->value_residuals.data() + ahead_);
  ahead_ = values;
}

void AccessDecoder::place_and_decode_values(std::size_t count, std::uint64_t* addresses,
                                            std::uint64_t* values) {
  Turn& turn = *turn_;
  const Op* ops = ops_.data();
  StridePredictor* predictors = value_predictors_.data();
  std::uint64_t* words = cache_.words();
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = ops[turn.ops[i]];
    std::uint64_t address = op.offset + turn.logged[turn.roots[i]];
    addresses[i] = address;
    std::uint64_t happened = 0 - std::uint64_t{address != kAbsent.value};
    std::uint64_t mask = kLowBytes[op.value_bytes] & happened;
    std::uint64_t shift = 8 * (address & 7);
    std::uint64_t& word = words[ValueCache::place(address)];
    std::uint64_t seen = word >> shift;
    std::uint64_t missed = turn.value_missed[next];
    // What did not happen teaches nobody: predictor 0 is no slot's.
    std::uint64_t number = op.predictor & happened;
    StridePredictor predictor = predictors[number];
    std::uint64_t value = predictor.told(missed, turn.value_residuals[next]);
    value ^= (value ^ seen) & static_cast<std::uint64_t>(std::int64_t{op.load}) & ~missed;
    value &= mask;
    word ^= ((value ^ seen) & mask) << shift;
    predictor.update(value);
    predictors[number] = predictor;
    values[i] = value;
    next += op.valued & happened;
  }
  ahead_ -= next;
  if (ahead_ > 0) {
    std::copy_n(turn.value_missed.data() + next, ahead_, turn.value_missed.data());
    std::copy_n(turn.value_residuals.data() + next, ahead_, turn.value_residuals.data());
  }
}

bool AccessDecoder::values_clean() const {
  const auto& missed = turn_->value_missed;
  return value_stream_.clean() &&
         std::all_of(missed.begin(), missed.begin() + static_cast<std::ptrdiff_t>(ahead_),
                     [](std::uint64_t miss) { return miss == 0; });
}

}  // namespace svd
