// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk still looks for, and on behalf of whom: an instance of the slice and how far
// it is from the criterion. Distances are whole numbers, so that an instance and what it costs to
// come from it fit a quarter of a cache line: a slice of everything has several a step.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "dpdg/instance.h"
#include "dpdg/mark.h"
#include "slicer/slice.h"

namespace svd {

using Distance = std::uint32_t;
// What is further away is taken for as far: no order that people see goes by such distances.
inline constexpr Distance kFarthest = 1U << 28;
inline constexpr Distance kNowhere = std::numeric_limits<Distance>::max();

// Weights of the default order: the best of those tried on 22 crashes.
inline constexpr std::array<Distance, 7> kWeights{
    /*kCriterion*/ 0, /*kValue*/ 1, /*kAddress*/ 2,
    /*kControl*/ 1,   /*kCall*/ 2,  /*kSpawn*/ 2,
    /*kSystemCall*/ 1};
constexpr Distance weight(Via via) { return kWeights[static_cast<std::size_t>(via)]; }

// An instance, by its thread's number in the walk.
struct Place {
  Mark mark;
  InstrId id{};
  friend bool operator==(const Place&, const Place&) = default;
};

// Two whole words, passed by value: one that is written in parts and read as a whole costs more
// than all else that is done with it.
class Want {
 public:
  Want() = default;  // nothing is wanted
  // `distance` is that of the instance.
  Want(const Place& by, Distance distance, Via via) : Want(by, via, distance + weight(via)) {}
  // The same for another reason, or at another cost.
  Want as(Via via, Distance cost) const { return {by(), via, cost}; }

  bool any() const { return what_ != kNothing; }
  Mark mark() const { return mark_; }
  InstrId id() const { return InstrId(static_cast<std::uint32_t>(what_ >> 32)); }
  Place by() const { return {mark_, id()}; }
  Via via() const { return static_cast<Via>(what_ & ((1U << kViaBits) - 1)); }
  // Of what satisfies it.
  Distance cost() const { return static_cast<std::uint32_t>(what_) >> kViaBits; }
  Distance distance() const { return cost() - weight(via()); }

  // The nearer one of what is wanted already and a new want.
  void merge(Want added) {
    if (added.cost() < cost()) *this = added;
  }
  friend bool operator==(const Want&, const Want&) = default;

 private:
  Want(const Place& by, Via via, Distance cost)
      : mark_(by.mark),
        what_(std::uint64_t{by.id.value} << 32 | cost << kViaBits |
              static_cast<std::uint32_t>(via)) {}

  static constexpr unsigned kViaBits = 3;
  static constexpr std::uint64_t kNothing = kNowhere;
  static_assert((std::uint64_t{kFarthest} + 2) << kViaBits < kNothing);
  Mark mark_;
  std::uint64_t what_ = kNothing;  // the instruction, the cost, the reason
};
static_assert(sizeof(Want) == 16);

// What brings an instance into the slice: the nearest of all that want it, with the instance's
// distance as the cost.
using Hit = Want;

}  // namespace svd
