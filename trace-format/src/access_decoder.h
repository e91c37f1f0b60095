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
    std::uint32_t valued = 0;  // accesses with a value, if they happen
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
  bool values_clean() const;

 private:
  // What is copied at a time: most executions have fewer slots. Lists have room for a group more.
  static constexpr std::size_t kGroup = 8;
  static constexpr std::size_t kRoom = kTurn + kMaxBlockSlots + kGroup;

  // What an execution of a shape adds to a turn, and where in the lists it begins.
  struct Plan {
    Extent extent;
    std::uint32_t first_access = 0;
    std::uint32_t first_logged = 0;
    std::uint32_t first_range = 0;
  };
  // A slot of a shape.
  struct Op {
    std::uint64_t offset = 0;  // of its address from its root
    std::uint32_t predictor = 0;
    std::uint8_t value_bytes = 0;  // 0: it has none
    std::uint8_t valued = 0;
    std::int8_t load = 0;  // -1, or 0
  };
  static_assert(sizeof(Op) == 16);
  // In one piece, so that one register finds all of it.
  struct Turn {
    std::array<std::uint32_t, kRoom> ops;
    std::array<std::uint32_t, kRoom> roots;  // numbers of logged addresses; 0: none
    std::array<std::uint32_t, kRoom> logged_predictors;
    std::array<std::uint32_t, kRoom> range_predictors;
    std::array<std::uint64_t, kRoom> logged;  // addresses, from 1; 0: zero
    std::array<std::uint64_t, kRoom> missed;
    std::array<std::uint64_t, kRoom> residuals;
    std::array<std::uint64_t, kRoom> value_missed;
    std::array<std::uint64_t, kRoom> value_residuals;
  };

  void append(const Shape& shape, std::uint32_t first_predictor);
  void decode_strides(MissDecoder& stream, std::size_t count, StridePredictor* predictors,
                      const std::uint32_t* numbers, std::uint64_t* out);
  void place(std::size_t count, std::uint64_t* addresses) const;
  // How many values a turn has is not known before its addresses, for what did not happen has none:
  // misses are read for as many as it can have, and what is left is the next turn's.
  void read_ahead(std::size_t values);
  void place_and_decode_values(std::size_t count, std::uint64_t* addresses, std::uint64_t* values);

  // By shape, and in their order.
  std::vector<Plan> plans_;
  std::vector<Op> ops_;
  std::vector<std::uint32_t> roots_;   // within the execution, from 1; 0: none
  std::vector<std::uint32_t> rooted_;  // all ones, or 0
  std::vector<std::uint32_t> logged_predictors_;
  std::vector<std::uint32_t> range_predictors_;

  // By static slot.
  std::vector<StridePredictor> address_predictors_;
  std::vector<StridePredictor> length_predictors_;
  std::vector<StridePredictor> value_predictors_;
  std::vector<std::uint32_t> first_predictor_;  // by block; 0: not in this chunk
  std::vector<std::uint32_t> used_blocks_;
  ValueCache cache_;

  MissDecoder address_stream_;
  MissDecoder length_stream_;
  MissDecoder value_stream_;
  std::unique_ptr<Turn> turn_ = std::make_unique<Turn>();
  std::size_t ahead_ = 0;  // values whose misses have been read
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
  for (std::uint32_t k = 0; k < plan.extent.ranges; ++k)
    to.range_predictors[turn.ranges + k] = range_predictors_[plan.first_range + k];
  turn.accesses += plan.extent.accesses;
  turn.logged += plan.extent.logged;
  turn.ranges += plan.extent.ranges;
  turn.valued += plan.extent.valued;
}

}  // namespace svd
