// SPDX-License-Identifier: Apache-2.0
//
// What can be told of instructions that Capstone 4 does not decode, or decodes wrongly: AVX-512.
#pragma once

#include <cstdint>
#include <span>

#include "decode/effects.h"

namespace svd {

// Effects with known = false, and the length where the encoding tells it, else 0.
InstrEffects undecoded(std::span<const std::uint8_t> code);

// An EVEX prefix, after legacy prefixes.
bool is_evex(std::span<const std::uint8_t> code);

}  // namespace svd
