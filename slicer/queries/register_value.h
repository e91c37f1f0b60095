// SPDX-License-Identifier: Apache-2.0
//
// What was in a general register, as far as the trace's addresses and values tell. Values of
// registers are not recorded; but what is loaded into one, stored from it or addressed by it is.
#pragma once

#include <cstdint>
#include <optional>

#include "slicer/queries/run_view.h"

namespace svd {

struct RegisterValue {
  std::uint64_t value = 0;
  unsigned bytes = 8;  // so many of the low ones are known
};

// Before the instruction; nothing where nothing near tells.
std::optional<RegisterValue> register_value(RunView& run, Reg reg, Seq at);

}  // namespace svd
