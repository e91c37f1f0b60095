// SPDX-License-Identifier: Apache-2.0
//
// The order in which findings are told: a step of its own, which looks at nothing but the findings
// and can be done again when more is known about them (the slice).
//
// First what has one fingerprint becomes one finding, with its occurrences added up. Findings about
// the same memory, or elements of the same array, are put together: one is told, the others are
// `related` to it. It is the best by 2, then the nearest to the failure (of what is minor), what is
// on the slice, the one with the highest score, else the one that occurred most often.
//
// Then, best first:
//   1. what lies on the slice of the failure;
//   2. what was seen in this run (races, blocks that are not atomic), before what another run may
//      show (only race-hybrid or race-lockset), before what is only a log (svd-log)
//      or may well be meant so (svd-2pl-minor, svd-cycle, svd-online);
//   3. of the latter, what is nearer to the failure; of a log, what happened less often;
//   4. by the score of svd-2pl: what was not atomic, before what was only not ordered; with the
//      same score what is not serializable, before what is;
//   5. what is nearer to the failure; what more detectors agree on;
//   6. words that the program's own code accesses, before ranges and what libraries do for it: a
//      buffer is damaged because its counter was;
//   7. what lies close together; what happened first.
#pragma once

#include <vector>

#include "findings/finding.h"

namespace svd {

void rank(std::vector<Finding>& findings);

}  // namespace svd
