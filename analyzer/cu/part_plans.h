// SPDX-License-Identifier: Apache-2.0
//
// What an analysis does at each execution of a part of a block, worked out once. Copies from
// register to register are followed while the plan is made and cost nothing later; what a register
// holds is written to it once, at the end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "svd/trace/chunk.h"

namespace svd {

// Values are sets of units: what registers hold when the part begins comes first, then the empty
// set, and then what the operations make.
using PlannedValue = std::uint32_t;

// Of the plan that is being made.
class PlannedValues {
 public:
  explicit PlannedValues(std::size_t registers) : held_(registers), most_(registers + 1) {}

  void begin() {
    std::iota(held_.begin(), held_.end(), PlannedValue{0});
    united_.clear();
    next_ = static_cast<PlannedValue>(nothing() + 1);
  }
  // What the register holds up to here.
  PlannedValue& operator[](std::size_t reg) { return held_[reg]; }
  PlannedValue nothing() const { return static_cast<PlannedValue>(held_.size()); }
  PlannedValue fresh() {
    most_ = std::max<std::size_t>(most_, next_ + std::size_t{1});
    return next_++;
  }
  // Both; add(into, a, b) is called where that takes an operation. Once more of the same two is the
  // same: units only become fewer.
  template <class F>
  PlannedValue unite(PlannedValue a, PlannedValue b, F&& add) {
    if (a == b || b == nothing()) return a;
    if (a == nothing()) return b;
    auto [known, added] = united_.try_emplace(std::minmax(a, b), PlannedValue{0});
    if (added) add(known->second = fresh(), a, b);
    return known->second;
  }
  // add(into, from) for what has to be written, in this order. All at once: a register that another
  // one gets may get something else before.
  template <class F>
  void write(F&& add) {
    std::map<PlannedValue, PlannedValue> kept;
    auto changes = [&](PlannedValue value) { return value < nothing() && held_[value] != value; };
    for (PlannedValue value : held_)
      if (changes(value) && kept.try_emplace(value, next_).second) add(fresh(), value);
    for (PlannedValue reg = 0; reg != nothing(); ++reg)
      if (held_[reg] != reg) add(reg, changes(held_[reg]) ? kept[held_[reg]] : held_[reg]);
  }
  // So many values plans can have.
  std::size_t most() const { return most_; }

 private:
  std::vector<PlannedValue> held_;
  std::map<std::pair<PlannedValue, PlannedValue>, PlannedValue> united_;
  PlannedValue next_ = 0;
  std::size_t most_;
};

template <class Op>
class PartPlans {
 public:
  // make(std::vector<Op>&) adds the operations, when they are asked for first.
  template <class F>
  std::span<const Op> of(const Shape& shape, F&& make) {
    auto part = std::bit_cast<std::uint64_t>(shape.part);
    if (plan_of_.size() <= shape.id.value) plan_of_.resize(shape.id.value + std::size_t{1});
    std::uint32_t p = plan_of_[shape.id.value];
    while (p != 0 && plans_[p].part != part) p = plans_[p].next;
    if (p == 0) {
      auto first = static_cast<std::uint32_t>(ops_.size());
      make(ops_);
      p = static_cast<std::uint32_t>(plans_.size());
      plans_.push_back({part, first, static_cast<std::uint32_t>(ops_.size()),
                        std::exchange(plan_of_[shape.id.value], p)});
    }
    return {ops_.data() + plans_[p].first, plans_[p].end - plans_[p].first};
  }

 private:
  struct Plan {
    std::uint64_t part = 0;  // its four numbers, compared as one
    std::uint32_t first = 0, end = 0;
    std::uint32_t next = 0;  // another part of the block
  };
  std::vector<std::uint32_t> plan_of_;  // by block: its last plan
  std::vector<Plan> plans_ = std::vector<Plan>(1);
  std::vector<Op> ops_;
};

}  // namespace svd
