// SPDX-License-Identifier: Apache-2.0
//
// What ValueFlow does at each execution of a part of a block (part_plans.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cu/part_plans.h"
#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"

namespace svd {

struct FlowOp {
  enum Kind : std::uint8_t {
    kUnite,   // into = a and b
    kLoad,    // into = a and what is loaded through an address that follows from b
    kStore,   // of a, through an address that follows from b
    kRanges,  // into = a; b if one of the instruction's accesses was to a range
    kDecide,  // where control goes next, by a
    kWrite,   // of registers: into = a
  };
  Kind kind{};
  bool is_range = false;  // the access
  std::uint16_t step = 0;
  PlannedValue into = 0, a = 0, b = 0;
  std::uint16_t access = 0;  // from the part's first
  std::uint16_t length = 0;  // its size; where that of a range is
};

class FlowPlans {
 public:
  // It must outlive it.
  explicit FlowPlans(const CodeTable& code) : code_(code), values_(code.cell_count() + 2) {}

  std::span<const FlowOp> of(const Shape& shape) {
    return plans_.of(shape, [&](std::vector<FlowOp>& ops) { make(shape, ops); });
  }
  // That outlast an execution, from 0; and how many values there can be.
  std::size_t registers() const { return values_.nothing(); }
  std::size_t values() const { return values_.most(); }

 private:
  // What an instruction's operands follow from.
  struct Operands {
    PlannedValue value, address, condition;
  };
  void make(const Shape& shape, std::vector<FlowOp>& ops);
  void add_step(const Shape& shape, std::uint16_t index, std::vector<FlowOp>& ops);
  bool add_accesses(const Shape& shape, std::uint16_t index, Operands& operands,
                    std::vector<FlowOp>& ops);
  // What was known of an instruction that was left halfway lies behind the registers.
  std::size_t carried_value() const { return code_.cell_count(); }
  std::size_t carried_address() const { return code_.cell_count() + 1; }

  const CodeTable& code_;
  PartPlans<FlowOp> plans_;
  PlannedValues values_;
  std::uint16_t ranges_ = 0;  // of the part up to here
};

}  // namespace svd
