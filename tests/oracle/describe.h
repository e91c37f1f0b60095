// SPDX-License-Identifier: Apache-2.0
//
// InstrEffects in a line, to compare and to print:
//   uses rax rcx:addr cf:cond  defs rdx.w xmm1[01]  memory r8 w8  flow call 0x40  copy
// A general register's lanes are .0 .1 .w (both) or none (all); a vector register's stand in
// brackets, "u" for the upper half, none for the lower four; flags have their names.
#pragma once

#include <string>

#include "decode/effects.h"

namespace svd::test {

std::string describe(const InstrEffects& effects);

// The lanes of one register, as above.
std::string describe(Reg reg, Lanes lanes);

}  // namespace svd::test
