// SPDX-License-Identifier: Apache-2.0
//
// The lanes that the immediate of a shuffle, blend, insertion or extraction selects.
#pragma once

#include <capstone/capstone.h>

#include <optional>

#include "decode/effects.h"

namespace svd {

struct LaneSelection {
  // When the destination is the first source, as in all legacy forms:
  Lanes def;   // what changes of it
  Lanes kept;  // what is read of it
  // When it is another register:
  Lanes first;   // what is read of the first source
  Lanes source;  // what is read of the last source, either way
};

// Nothing for instructions whose immediate selects no lanes. `wide`: on ymm registers.
std::optional<LaneSelection> select_lanes(unsigned id, unsigned imm, bool wide);

}  // namespace svd
