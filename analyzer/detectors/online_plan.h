// SPDX-License-Identifier: Apache-2.0
//
// What the online detector does at each execution of a part of a block (cu/part_plans.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cu/part_plans.h"
#include "detectors/skipper.h"
#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"

namespace svd {

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
  OnlinePlans(const CodeTable& code, const Skipper& skipper)
      : code_(code), skipper_(skipper), values_(code.cell_count()) {}

  std::span<const PlannedOp> of(const Shape& shape) {
    return plans_.of(shape, [&](std::vector<PlannedOp>& ops) { make(shape, ops); });
  }
  // How many values there can be.
  std::size_t values() const { return values_.most(); }

 private:
  void make(const Shape& shape, std::vector<PlannedOp>& ops);
  void add_step(const Shape& shape, const Step& step, std::uint16_t index,
                std::vector<PlannedOp>& ops);

  const CodeTable& code_;
  const Skipper& skipper_;
  PartPlans<PlannedOp> plans_;
  PlannedValues values_;
  std::uint16_t ranges_ = 0;  // of the part up to here
};

}  // namespace svd
