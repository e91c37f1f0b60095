// SPDX-License-Identifier: Apache-2.0
//
// The order in which findings are told, a step of its own that can be done again: it looks at
// nothing but the findings. What was found by several detectors has become one finding before.
//
// In this order:
//   1. what lies on the slice of the failure
//   2. what was observed, before what another run could have (race-lockset, race-hybrid alone),
//   before
//      what is only a log to look through (svd-log alone)
//   3. what more detectors agree on
//   4. a write whose value the other thread then uses, before anything with a free or the kernel …
//   5. what happened less often: bugs are rarer than habits
//   6. what happened first
#pragma once

#include <vector>

#include "findings/finding.h"

namespace svd {

// Merges findings about the same accesses, ranks and numbers them.
void rank(std::vector<Finding>& findings);

}  // namespace svd
