// SPDX-License-Identifier: Apache-2.0
//
// Decodes the addresses and values of some hundred executions at a time, a turn, so that what one
// pass leaves for the next is still in the nearest cache. Passes are flat loops without a branch
// that depends on what was executed or on where a predictor was wrong: the processor cannot foresee
// either, and a branch that it takes wrongly costs more than a miss.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "chunk_columns.h"
#include "predict.h"
#include "svd/trace/chunk.h"

namespace svd {

class AccessDecoder {
 public:
  // A turn is over when it has so many accesses; its last execution may overshoot.
  // 192 to 768 are equally fast, fewer slower.
  static constexpr std::uint32_t kTurn = 768;

  // How much an execution, or a turn, consists of.
  struct Extent {
    std::uint32_t accesses = 0;
    std::uint32_t logged = 0;  // addresses
    std::uint32_t ranges = 0;
    std::uint32_t stores = 0;  // with a value, if they happen
  };

  // Starts a chunk. Without `values` those are left out.
  void start(std::span<const Shape> shapes, std::size_t block_count,
             const ColumnSet<std::span<const std::uint8_t>>& columns, bool values);
  // Appends an execution to the turn. `turn` is the caller's, so that it lives in registers.
  void add(std::uint32_t shape, Extent& turn);
  // Decodes the turn; null `values`: without them.
  void decode(const Extent& turn, std::uint64_t* addresses, std::uint64_t* lengths,
              std::uint64_t* values);
  bool addresses_clean() const { return address_stream_.clean() && length_stream_.clean(); }
  bool values_clean() const { return load_stream_.clean() && store_stream_.clean(); }

 private:
  // What is copied at a time: most executions have fewer slots. Lists have room for a group more.
  static constexpr std::size_t kGroup = 4;
  static constexpr std::size_t kRoom = kTurn + kMaxBlockSlots + kGroup;

  // What an execution of a shape adds to a turn, and where in the lists it begins.
  struct Plan {
    Extent extent;
    std::uint32_t first_access = 0;
    std::uint32_t first_logged = 0;
    std::uint32_t first_range = 0;
    std::uint32_t first_store = 0;
  };
  // A slot of a shape.
  struct Op {
    std::uint64_t offset = 0;  // of its address from its root
    std::uint64_t mask = 0;    // of its value; 0: it has none
  };
  // In one piece, so that one register finds all of it.
  struct Turn {
    std::array<std::uint32_t, kRoom> ops;
    std::array<std::uint32_t, kRoom> roots;  // numbers of logged addresses; 0: none
    std::array<std::uint32_t, kRoom> logged_predictors;
    std::array<std::uint32_t, kRoom> range_predictors;
    std::array<std::uint32_t, kRoom> store_predictors;
    std::array<std::uint32_t, kRoom> stores;  // numbers of accesses
    std::array<std::uint64_t, kRoom> logged;  // addresses, from 1; 0: zero
    std::array<std::uint64_t, kRoom> missed;
    std::array<std::uint64_t, kRoom> residuals;
    std::array<std::int8_t, kRoom> told;  // by access: -1 where `values` holds its value
    std::array<std::uint64_t, kRoom> values;
  };

  void append(const Shape& shape, std::uint32_t first_predictor);
  // Calls put(number, value) for each.
  void decode_strides(MissDecoder& stream, std::size_t count, StridePredictor* predictors,
                      const std::uint32_t* numbers, auto&& put);
  void place(std::size_t count, std::uint64_t* addresses) const;
  // Values that do not come from memory: of stores, and of loads that were missed.
  void decode_told(const Extent& turn);
  template <bool kOptional>
  void place_and_load(std::size_t count, std::uint64_t* addresses, std::uint64_t* values);

  // By shape, and in their order.
  std::vector<Plan> plans_;
  std::vector<Op> ops_;
  std::vector<std::uint32_t> roots_;   // within the execution, from 1; 0: none
  std::vector<std::uint32_t> rooted_;  // all ones, or 0
  std::vector<std::uint32_t> logged_predictors_;
  std::vector<std::uint32_t> range_predictors_;
  std::vector<std::uint32_t> store_predictors_;
  std::vector<std::uint32_t> stores_;      // within the execution
  std::vector<std::uint32_t> predictors_;  // by op
  bool optional_ = false;                  // something may not happen

  // By static slot.
  std::vector<StridePredictor> address_predictors_;
  std::vector<StridePredictor> length_predictors_;
  std::vector<StridePredictor> store_values_;
  std::vector<std::uint64_t> missed_loads_;
  std::vector<std::uint32_t> first_predictor_;  // by block; 0: not in this chunk
  std::vector<std::uint32_t> used_blocks_;
  ValueCache cache_;

  MissDecoder address_stream_;
  MissDecoder length_stream_;
  MissDecoder load_stream_;
  MissDecoder store_stream_;
  std::unique_ptr<Turn> turn_ = std::make_unique<Turn>();
};

[[gnu::always_inline]] inline void AccessDecoder::add(std::uint32_t shape, Extent& turn) {
  const Plan& plan = plans_[shape];
  Turn& to = *turn_;
  const std::uint32_t* predictors = logged_predictors_.data() + plan.first_logged;
  std::size_t i = 0;
  do {
    std::memcpy(to.logged_predictors.data() + turn.logged + i, predictors + i,
                kGroup * sizeof *predictors);
    i += kGroup;
  } while (i < plan.extent.logged);
  const std::uint32_t* roots = roots_.data() + plan.first_access;
  const std::uint32_t* rooted = rooted_.data() + plan.first_access;
  i = 0;
  do {
    std::array<std::uint32_t, kGroup> group;
    std::uint32_t first = plan.first_access + static_cast<std::uint32_t>(i);
    for (std::uint32_t k = 0; k < kGroup; ++k) group[k] = first + k;
    std::memcpy(to.ops.data() + turn.accesses + i, group.data(), sizeof group);
    for (std::size_t k = 0; k < kGroup; ++k)
      group[k] = roots[i + k] + (rooted[i + k] & turn.logged);
    std::memcpy(to.roots.data() + turn.accesses + i, group.data(), sizeof group);
    i += kGroup;
  } while (i < plan.extent.accesses);
  const std::uint32_t* store_predictors = store_predictors_.data() + plan.first_store;
  const std::uint32_t* stores = stores_.data() + plan.first_store;
  i = 0;
  do {
    std::memcpy(to.store_predictors.data() + turn.stores + i, store_predictors + i,
                kGroup * sizeof *stores);
    std::array<std::uint32_t, kGroup> group;
    for (std::size_t k = 0; k < kGroup; ++k) group[k] = stores[i + k] + turn.accesses;
    std::memcpy(to.stores.data() + turn.stores + i, group.data(), sizeof group);
    i += kGroup;
  } while (i < plan.extent.stores);
  for (std::uint32_t k = 0; k < plan.extent.ranges; ++k)
    to.range_predictors[turn.ranges + k] = range_predictors_[plan.first_range + k];
  turn.accesses += plan.extent.accesses;
  turn.logged += plan.extent.logged;
  turn.ranges += plan.extent.ranges;
  turn.stores += plan.extent.stores;
}

}  // namespace svd
