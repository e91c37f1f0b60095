// SPDX-License-Identifier: Apache-2.0
//
// Decodes the addresses and values of some hundred executions at a time, a turn, so that what one
// pass leaves for the next is still in the nearest cache. The slots of a shape are cut into groups
// of four, and a turn is a list of groups: passes take the slots of a group side by side, in flat
// loops without a branch that depends on what was executed or on where a predictor was wrong. The
// processor cannot foresee either, and a branch that it takes wrongly costs more than a miss.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "chunk_columns.h"
#include "lanes.h"
#include "predict.h"
#include "svd/trace/chunk.h"

namespace svd {

class AccessDecoder {
 public:
  // kBest: what this processor has; kPlain: what every one has.
  enum class Instructions : std::uint8_t { kBest, kPlain };
  explicit AccessDecoder(Instructions instructions);

  // A turn is over when it has so many accesses; its last execution may overshoot.
  static constexpr std::uint32_t kTurn = 192;

  // How much an execution, or a turn, consists of.
  struct Extent {
    std::uint32_t steps = 0;
    std::uint32_t accesses = 0;
    std::uint32_t logged = 0;  // addresses
    std::uint32_t ranges = 0;
    std::uint32_t groups = 0;
  };

  // Starts a chunk. Without `values` those are left out.
  void start(std::span<const Shape> shapes, const ColumnSet<std::span<const std::uint8_t>>& columns,
             bool values);
  // Appends an execution to the turn. `turn` is the caller's, so that it lives in registers.
  void add(std::uint32_t shape, Extent& turn);
  // Decodes the turn; null `values`: without them.
  void decode(const Extent& turn, std::uint64_t* addresses, std::uint64_t* lengths,
              std::uint64_t* values);
  bool addresses_clean() const { return address_stream_.clean() && length_stream_.clean(); }
  bool values_clean() const { return load_stream_.clean() && store_stream_.clean(); }

 private:
  static constexpr std::size_t kGroup = kLanes;
  // Lists have room for a group more.
  static constexpr std::size_t kRoom = kTurn + kMaxBlockSlots + kGroup;
  // Three lines of the cache.
  struct alignas(64) AddressGroup {
    StrideLanes logged;  // of those of its addresses that are logged
    Lanes offset{};      // of each address from its root
    Lanes rooted{};      // all ones, or 0: it has no root
    std::array<std::int32_t, kGroup>
        root{};           // a logged address, as its distance from the group's first one
    SmallLanes stores{};  // -1, or 0; a value's, but there it would take a third line
  };
  // Two.
  struct alignas(64) ValueGroup {
    StrideLanes told;  // loads only move where they were missed
    Lanes mask{};      // of the value; 0: it has none
  };
  // The address of a slot as a logged one of the execution, counted from 1, plus an offset; 0: no
  // logged one.
  struct Place {
    std::uint32_t root = 0;
    std::uint64_t offset = 0;
  };
  // What an execution of a shape adds to a turn.
  struct Plan {
    Extent extent;
    std::uint32_t first_group = 0;
    std::uint32_t first_range = 0;
    bool large = false;  // it has ranges, or more groups than are copied at a time
  };
  // A group of a turn.
  struct Part {
    std::uint32_t number = 0;
    std::uint16_t accesses = 0;
    std::uint16_t logged = 0;
  };
  // In one piece, so that one register finds all of it.
  struct Turn {
    std::array<Part, kRoom> groups;
    std::array<std::uint32_t, kRoom> ranges;  // numbers of predictors
    std::array<std::uint64_t, kRoom> missed;
    std::array<std::uint64_t, kRoom> residuals;
    std::array<std::uint64_t, kRoom> logged;
    std::array<std::uint64_t, kRoom> addresses;
    // The parts of a value that come from memory or are told, and what is told.
    std::array<std::uint64_t, kRoom> seen_mask;
    std::array<std::uint64_t, kRoom> told_mask;
    std::array<std::uint64_t, kRoom> told;
  };

  void append(const Shape& shape);
  void decode_turn(const Extent& turn, std::uint64_t* addresses, std::uint64_t* values);
  void decode_turn_avx2(const Extent& turn, std::uint64_t* addresses, std::uint64_t* values);
  void decode_turn_plain(const Extent& turn, std::uint64_t* addresses, std::uint64_t* values);
  void decode_lengths(std::size_t count, std::uint64_t* lengths);
  void decode_addresses(const Extent& turn);
  template <bool kOptional>
  void decode_told(const Extent& turn);
  void decode_values(std::size_t count, std::uint64_t* addresses, std::uint64_t* values);

  std::vector<Plan> plans_;  // by shape
  std::vector<Part> parts_;  // of all shapes
  std::vector<AddressGroup> addresses_;
  std::vector<ValueGroup> values_;
  std::vector<StridePredictor> length_predictors_;
  std::vector<Place> places_;  // of a shape
  bool avx2_ = false;
  bool optional_ = false;  // something may not happen
  ValueCache cache_;

  MissDecoder address_stream_;
  MissDecoder length_stream_;
  MissDecoder load_stream_;
  MissDecoder store_stream_;
  std::unique_ptr<Turn> turn_ = std::make_unique<Turn>();
};

[[gnu::always_inline]] inline void AccessDecoder::add(std::uint32_t shape, Extent& turn) {
  const Plan& plan = plans_[shape];
  const Part* parts = parts_.data() + plan.first_group;
  Part* to = turn_->groups.data() + turn.groups;
  std::memcpy(to, parts, kGroup * sizeof *parts);
  if (plan.large) [[unlikely]] {
    for (std::uint32_t i = kGroup; i < plan.extent.groups; i += kGroup)
      std::memcpy(to + i, parts + i, kGroup * sizeof *parts);
    for (std::uint32_t k = 0; k < plan.extent.ranges; ++k)
      turn_->ranges[turn.ranges + k] = plan.first_range + k;
    turn.ranges += plan.extent.ranges;
  }
  turn.steps += plan.extent.steps;
  turn.accesses += plan.extent.accesses;
  turn.logged += plan.extent.logged;
  turn.groups += plan.extent.groups;
}

}  // namespace svd
