// SPDX-License-Identifier: Apache-2.0
//
// Races that changed nothing: in either order the program would have gone the same way (as
// Narayanasamy et al., PLDI 2007, judge races by replaying them both ways); violations whose first
// read is such a race; and races that a correct program can have. harmless.cc has the definitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "detectors/detector.h"
#include "detectors/raw_finding.h"

namespace svd {

enum class Harm : std::uint8_t {
  kSome,
  kLook,  // a race by the letter, but may be meant so
  kNone,
};

// What each race or violation does. Walks the run if something other than harm is possible: once
// for the findings of all detectors.
std::vector<Harm> harm(const Preparation& run, std::span<const RawFinding* const> found);

}  // namespace svd
