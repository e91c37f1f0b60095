// SPDX-License-Identifier: Apache-2.0

#include "access_decoder.h"

#include <algorithm>

namespace svd {

AccessDecoder::AccessDecoder(Instructions instructions)
    : avx2_(instructions == Instructions::kBest && __builtin_cpu_supports("avx2") &&
            __builtin_cpu_supports("bmi2")) {}

void AccessDecoder::append(const Shape& shape) {
  Plan plan;
  plan.extent = {shape.part.steps(), shape.accesses, 0, shape.ranges, 0};
  plan.first_group = static_cast<std::uint32_t>(addresses_.size());
  plan.first_range = static_cast<std::uint32_t>(length_predictors_.size());
  length_predictors_.resize(length_predictors_.size() + shape.ranges);
  places_.clear();
  std::uint32_t before = 0;  // logged addresses before the group
  for (std::uint16_t i = shape.part.first_slot; i < shape.part.end_slot; ++i) {
    std::size_t lane = places_.size() % kGroup;
    if (lane == 0) {
      before = plan.extent.logged;
      parts_.push_back({static_cast<std::uint32_t>(addresses_.size()), 0, 0});
      addresses_.emplace_back();
      values_.emplace_back();
    }
    AddressGroup& address = addresses_.back();
    ValueGroup& value = values_.back();
    const Slot& slot = shape.block->slots[i];
    Place place;
    if (is_logged(slot, shape.part)) {
      place.root = ++plan.extent.logged;
      ++parts_.back().logged;
    } else if (slot.source == AddressSource::kSlot) {
      place = places_[slot.base - shape.part.first_slot];
      place.offset += slot.offset;
    } else {
      place.offset = slot.offset;
    }
    places_.push_back(place);
    address.offset[lane] = place.offset;
    if (place.root != 0) {
      address.rooted[lane] = ~std::uint64_t{0};
      address.root[lane] = static_cast<std::int32_t>(place.root - 1 - before);
    }
    if (slot.has_value()) {
      value.mask[lane] = kLowBytes[slot.size & 15];
      address.stores[lane] = slot.write ? -1 : 0;
      optional_ = optional_ || slot.optional;
    }
    ++parts_.back().accesses;
  }
  plan.extent.groups = static_cast<std::uint32_t>(addresses_.size()) - plan.first_group;
  plan.large = plan.extent.groups > kGroup || plan.extent.ranges > 0;
  plans_.push_back(plan);
}

void AccessDecoder::start(std::span<const Shape> shapes,
                          const ColumnSet<std::span<const std::uint8_t>>& columns, bool values) {
  plans_.clear();
  parts_.clear();
  addresses_.clear();
  values_.clear();
  length_predictors_.clear();
  optional_ = false;
  for (const Shape& shape : shapes) append(shape);
  parts_.resize(parts_.size() + kGroup);
  address_stream_ = MissDecoder(columns.addresses);
  length_stream_ = MissDecoder(columns.lengths);
  if (values) {
    load_stream_ = MissDecoder(columns.loads);
    store_stream_ = MissDecoder(columns.stores);
    cache_.reset();
  }
}

void AccessDecoder::decode_lengths(std::size_t count, std::uint64_t* lengths) {
  Turn& turn = *turn_;
  length_stream_.next(count, turn.missed.data(), turn.residuals.data());
  for (std::size_t i = 0; i < count; ++i)
    lengths[i] = length_predictors_[turn.ranges[i]].step(turn.missed[i], turn.residuals[i]);
}

[[gnu::always_inline]] inline void AccessDecoder::decode_addresses(const Extent& turn) {
  Turn& to = *turn_;
  address_stream_.next(turn.logged, to.missed.data(), to.residuals.data());
  std::uint64_t* missed = to.missed.data();
  std::uint64_t* residuals = to.residuals.data();
  std::uint64_t* logged = to.logged.data();
  std::uint64_t* addresses = to.addresses.data();
  AddressGroup* groups = addresses_.data();
  for (std::uint32_t i = 0; i < turn.groups; ++i) {
    const Part part = to.groups[i];
    AddressGroup& group = groups[part.number];
    const Lanes miss = lanes_at(missed).lanes;
    const Lanes residual = lanes_at(residuals).lanes;
    group.logged.step(miss, residual);
    lanes_at(logged).lanes = group.logged.last;
    missed += part.logged;
    residuals += part.logged;
    logged += part.logged;
  }
  logged = to.logged.data();
  for (std::uint32_t i = 0; i < turn.groups; ++i) {
    const Part part = to.groups[i];
    const AddressGroup& group = groups[part.number];
    const Lanes roots{logged[group.root[0]], logged[group.root[1]], logged[group.root[2]],
                      logged[group.root[3]]};
    lanes_at(addresses).lanes = group.offset + (roots & group.rooted);
    logged += part.logged;
    addresses += part.accesses;
  }
}

template <bool kOptional>
[[gnu::always_inline]] inline void AccessDecoder::decode_told(const Extent& turn) {
  Turn& to = *turn_;
  load_stream_.next(turn.accesses, to.missed.data(), to.residuals.data());
  store_stream_.add(turn.accesses, to.missed.data(), to.residuals.data());
  const AddressGroup* addresses = addresses_.data();
  ValueGroup* groups = values_.data();
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < turn.groups; ++i) {
    const Part part = to.groups[i];
    ValueGroup& group = groups[part.number];
    const Lanes missed = lanes_at(to.missed.data() + at).lanes;
    const Lanes residual = lanes_at(to.residuals.data() + at).lanes;
    Lanes mask = group.mask;
    Lanes stores;
    widen(addresses[part.number].stores, stores);
    if constexpr (kOptional)
      mask &= reinterpret_cast<Lanes>(lanes_at(to.addresses.data() + at).lanes != kAbsent.value);
    group.told.step(missed, residual);
    group.told.stride &= stores;
    Lanes told_mask = mask & (missed | stores);
    lanes_at(to.told.data() + at).lanes = group.told.last & told_mask;
    lanes_at(to.told_mask.data() + at).lanes = told_mask;
    lanes_at(to.seen_mask.data() + at).lanes = mask ^ told_mask;
    at += part.accesses;
  }
}

// Addresses are put here, beside values: the memory that a chunk is decoded to is far, and what is
// done meanwhile is most here.
[[gnu::always_inline]] inline void AccessDecoder::decode_values(std::size_t count,
                                                                std::uint64_t* addresses,
                                                                std::uint64_t* values) {
  const Turn& turn = *turn_;
  std::uint64_t* words = cache_.words();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t address = turn.addresses[i];
    addresses[i] = address;
    std::uint64_t shift = 8 * address & 63;
    std::uint64_t& word = words[ValueCache::place(address)];
    std::uint64_t seen = word >> shift;
    values[i] = (seen & turn.seen_mask[i]) | turn.told[i];
    word ^= ((seen & turn.told_mask[i]) ^ turn.told[i]) << shift;
  }
}

[[gnu::always_inline]] inline void AccessDecoder::decode_turn(const Extent& turn,
                                                              std::uint64_t* addresses,
                                                              std::uint64_t* values) {
  decode_addresses(turn);
  if (values == nullptr) {
    std::copy_n(turn_->addresses.data(), turn.accesses, addresses);
    return;
  }
  if (optional_) {
    decode_told<true>(turn);
  } else {
    decode_told<false>(turn);
  }
  decode_values(turn.accesses, addresses, values);
}

[[gnu::target("avx2,bmi2")]] void AccessDecoder::decode_turn_avx2(const Extent& turn,
                                                                  std::uint64_t* addresses,
                                                                  std::uint64_t* values) {
  decode_turn(turn, addresses, values);
}

void AccessDecoder::decode_turn_plain(const Extent& turn, std::uint64_t* addresses,
                                      std::uint64_t* values) {
  decode_turn(turn, addresses, values);
}

void AccessDecoder::decode(const Extent& turn, std::uint64_t* addresses, std::uint64_t* lengths,
                           std::uint64_t* values) {
  if (turn.ranges > 0) decode_lengths(turn.ranges, lengths);
  if (avx2_) {
    decode_turn_avx2(turn, addresses, values);
  } else {
    decode_turn_plain(turn, addresses, values);
  }
}

}  // namespace svd
