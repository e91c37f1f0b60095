// SPDX-License-Identifier: Apache-2.0
//
// Who read what is in memory at a moment.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicer/queries/memory_events.h"

namespace svd {

// Reads by one instruction in one thread, or by the kernel for a thread.
struct Reader {
  MemoryEvent first{};
  Seq last{};
  std::uint64_t count = 0;
};

struct Readers {
  std::vector<Reader> all{};   // in the order of their first reads
  std::uint64_t others = 0;    // reads by more of them than are kept
  std::optional<Seq> until{};  // when the last of the bytes was changed
  // What is read all over the run is not followed to its end: where the looking ended.
  std::optional<Seq> stopped{};
};

// Reads after the instruction `after`, of bytes that were not changed since.
Readers readers_of(RunView& run, Range bytes, Seq after);

}  // namespace svd
