// SPDX-License-Identifier: Apache-2.0
//
// What can be told of instructions that Capstone 4 does not decode, or decodes wrongly: AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/effects.h"

namespace svd {

// Effects with known = false, and the length where the encoding tells it, else 0.
InstrEffects undecoded(std::span<const std::uint8_t> code);

// Where the opcode of a vbroadcasti128 stands, which Capstone does not know; 0: it is none. With
// 0x1a there it would be vbroadcastf128, which does the same.
std::size_t opcode_of_vbroadcasti128(std::span<const std::uint8_t> code);

// An EVEX prefix, after legacy prefixes.
bool is_evex(std::span<const std::uint8_t> code);

}  // namespace svd
