// SPDX-License-Identifier: Apache-2.0
//
// What was in memory at a moment, as far as accesses around it tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicer/queries/memory_events.h"

namespace svd {

// Of each byte, before instruction `at`; nothing where no access with a value tells.
std::vector<std::optional<std::uint8_t>> memory_value(RunView& run, Range bytes, Seq at);

}  // namespace svd
