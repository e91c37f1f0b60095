// SPDX-License-Identifier: Apache-2.0
//
// Capstone's names of registers as ours.
#pragma once

#include <capstone/capstone.h>

#include <optional>

#include "decode/effects.h"

namespace svd {

struct RegPart {
  Reg reg{};
  Lanes lanes = 0;  // that the name covers
};

// Nothing for what is not tracked: rip, the segment selectors, control and debug registers.
std::optional<RegPart> reg_part(x86_reg reg);

// What a write under the name `part` defines: 32 bits of a general register clear the others, and
// Capstone's name does not tell.
inline bool is_general(Reg reg) { return reg <= Reg::kR15; }
inline bool is_vector(Reg reg) { return reg >= Reg::kVector && reg < Reg::kMask; }

}  // namespace svd
