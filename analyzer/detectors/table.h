// SPDX-License-Identifier: Apache-2.0
//
// All detectors: a line in table.cc for each.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "detectors/detector.h"

namespace svd {

struct DetectorInfo {
  std::string_view name;
  std::string_view summary;
  bool by_default;
  std::unique_ptr<Detector> (*make)(std::string_view name, std::size_t threads,
                                    LockSets& lock_sets);
};

std::span<const DetectorInfo> all_detectors();

}  // namespace svd
