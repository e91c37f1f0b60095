// SPDX-License-Identifier: Apache-2.0
//
// All detectors: a line in table.cc for each.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "detectors/detector.h"

namespace svd {

// Which of its races a detector tells (harmless.h).
enum class Races { kHarmful, kHarmless, kAll };

struct DetectorInfo {
  std::string_view name;
  std::string_view summary;
  bool by_default;
  bool needs_atomic_blocks;  // finds nothing in a trace that declares none
  Races races;
  using Make = std::unique_ptr<Detector> (*)(std::string_view name, std::size_t threads,
                                             LockSets& lock_sets);
  Make make;
  Make make_paper = nullptr;  // with the units of the paper
};

std::span<const DetectorInfo> all_detectors();

bool has_atomic_blocks(const TraceReader& trace);

}  // namespace svd
