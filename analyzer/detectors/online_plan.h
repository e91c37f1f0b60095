// SPDX-License-Identifier: Apache-2.0
//
// What the online detector does at each execution of a part of a block, worked out once: between
// its accesses to memory, copies from register to register are followed here, and what remains to
// be done are the unions of two different sets. What a register follows from is written to it once,
// at the end.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "detectors/skipper.h"
#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"

namespace svd {

// Values are sets of units: below cell_count() that of the register when the part begins, then the
// empty one, and then what the operations make.
using PlannedValue = std::uint16_t;

struct PlannedOp {
  enum Kind : std::uint8_t {
    kUnite,     // into = a and b
    kLoad,      // into = a and what the access loads
    kCheck,     // whether a has conflicts, if the access, a store, happens
    kStore,     // of a
    kTransfer,  // an access that is no data: where calls return to
    kMeet,      // control comes to a place where branches come together
    kBranch,    // decided by a, comes together at `end`
    kBegin,     // of an abstract trace: the step begins
    kDecide,    // of an abstract trace: it ends, and decides by a
    kWrite,     // of registers: into = a
  };
  Kind kind{};
  std::uint16_t step = 0;
  PlannedValue into = 0, a = 0, b = 0;
  std::uint16_t access = 0;  // from the part's first
  std::uint16_t range = 0;   // of those of the part that are ranges
  Pc place{};                // of kMeet and kBranch
};

class OnlinePlans {
 public:
  // Both must outlive it.
  OnlinePlans(const CodeTable& code, const Skipper& skipper);

  std::span<const PlannedOp> of(const Shape& shape) {
    if (plan_of_.size() <= shape.id.value) plan_of_.resize(shape.id.value + std::size_t{1});
    for (std::uint32_t p = plan_of_[shape.id.value]; p != 0; p = plans_[p].next)
      if (plans_[p].part == std::bit_cast<std::uint64_t>(shape.part)) return ops(plans_[p]);
    return ops(make(shape));
  }
  // How many values there can be.
  std::size_t values() const { return values_; }

 private:
  struct Plan {
    std::uint64_t part = 0;  // its four numbers, compared as one
    std::uint32_t first = 0, end = 0;
    std::uint32_t next = 0;  // another part of the block
  };
  std::span<const PlannedOp> ops(const Plan& plan) const {
    return {ops_.data() + plan.first, plan.end - plan.first};
  }
  const Plan& make(const Shape& shape);
  void add_step(const Shape& shape, const Step& step, std::uint16_t index);
  void write_registers();
  PlannedValue unite(PlannedValue a, PlannedValue b);
  PlannedValue fresh();
  PlannedValue nothing() const { return static_cast<PlannedValue>(code_.cell_count()); }
  PlannedOp& add(PlannedOp::Kind kind, std::uint16_t step);

  const CodeTable& code_;
  const Skipper& skipper_;
  std::vector<std::uint32_t> plan_of_;  // by block: its first plan
  std::vector<Plan> plans_ = std::vector<Plan>(1);
  std::vector<PlannedOp> ops_;
  std::size_t values_ = 0;
  // Of the plan that is being made.
  std::vector<PlannedValue> cells_;
  std::map<std::pair<PlannedValue, PlannedValue>, PlannedValue> united_;
  PlannedValue next_value_ = 0;
  std::uint16_t ranges_ = 0;
};

}  // namespace svd
