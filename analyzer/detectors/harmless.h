// SPDX-License-Identifier: Apache-2.0
//
// Races that changed nothing: in either order the program would have gone the same way (as
// Narayanasamy et al., PLDI 2007, judge races by replaying them both ways). harmless.cc has the
// definition.
#pragma once

#include <span>
#include <vector>

#include "detectors/detector.h"
#include "detectors/raw_finding.h"

namespace svd {

// Which of the races are harmless. Walks the run if some may be.
std::vector<bool> harmless(const Preparation& run, std::span<const RawFinding> races);

}  // namespace svd
