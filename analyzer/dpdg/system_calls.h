// SPDX-License-Identifier: Apache-2.0
//
// Which registers a system call of x86-64 Linux takes its arguments from. The instruction is the
// same for all, so the decoder cannot know; the trace's event tells which call it was.
#pragma once

#include <cstdint>
#include <span>

#include "decode/effects.h"

namespace svd {

// All six of a call that is not known.
std::span<const Reg> argument_registers(std::uint32_t system_call);

}  // namespace svd
