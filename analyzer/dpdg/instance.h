// SPDX-License-Identifier: Apache-2.0
//
// A vertex of the dependence graph.
#pragma once

#include "dpdg/code_table.h"
#include "svd/trace/types.h"

namespace svd {

// One instance of an instruction.
struct Instance {
  Seq seq{};
  InstrId id{};
  ThreadId thread{};  // 0 in what stands for no instance
  friend bool operator==(const Instance&, const Instance&) = default;
};

}  // namespace svd
