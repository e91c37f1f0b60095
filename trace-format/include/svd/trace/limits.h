// SPDX-License-Identifier: Apache-2.0
//
// The sizes that the format promises. The writer keeps them; the reader refuses what goes beyond
// before it allocates anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace svd {

// A chunk in the file, header and padding included. Far below what FlatBuffers' verifier can take
// (2 GiB).
inline constexpr std::size_t kMaxChunkBytes = 16U << 20;
// What one column of a chunk may unpack to.
inline constexpr std::size_t kMaxColumnBytes = 16U << 20;
// Steps, and accesses, of one chunk. The last execution may overshoot by one block.
inline constexpr std::uint32_t kMaxChunkSteps = 4U << 20;
// Strings and data of one event; larger kernel transfers are split by the engine.
inline constexpr std::size_t kMaxEventBytes = 1U << 20;
// Events of one chunk: as objects they take some hundred bytes each.
inline constexpr std::uint32_t kMaxChunkEvents = 1U << 18;
// Memory that a program can have: x86-64 with four levels of page tables. What an event says of the
// kernel's accesses beyond is told as lost, because analyses hold something of every byte.
inline constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 47;

}  // namespace svd
