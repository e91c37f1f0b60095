// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk tells the one that follows it (order_walk.h) of a chunk: which instances that
// access memory are in the slice, how far they are, and which of them wrote what other threads read
// in the slice.
#pragma once

#include <cstdint>
#include <vector>

#include "dpdg/code_table.h"
#include "slicer/wants.h"

namespace svd {

class Joined {
 public:
  enum class Kind : std::uint8_t {
    kMember,
    kGives,      // wrote memory for others; in place of the distance: how many reads of Joins
    kCriterion,  // with what it computes with
  };
  // `step`: of the chunk.
  Joined(std::uint32_t step, Kind kind, std::uint32_t distance)
      : step_(step), what_(distance << kKindBits | static_cast<std::uint32_t>(kind)) {}
  std::uint32_t step() const { return step_; }
  Kind kind() const { return static_cast<Kind>(what_ & ((1U << kKindBits) - 1)); }
  std::uint32_t distance() const { return what_ >> kKindBits; }

 private:
  static constexpr unsigned kKindBits = 3;
  static_assert(kFarthest < 1U << (32 - kKindBits));
  std::uint32_t step_, what_;
};

// A read in the slice of what another thread wrote to memory.
struct ReadByOther {
  Addr address{};
  std::uint64_t size = 0;
  Instance by{};
  Distance distance = 0;
  std::uint64_t own = 0;  // instructions of its thread from it to the end of the trace
};

// In the order of the walk.
struct Joins {
  std::vector<Joined> instances;
  std::vector<ReadByOther> reads;
  void clear() {
    instances.clear();
    reads.clear();
  }
};

}  // namespace svd
