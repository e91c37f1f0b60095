// SPDX-License-Identifier: Apache-2.0
//
// Leaves out the findings that a rule names; what is related to them goes, too.
#pragma once

#include <cstdint>
#include <vector>

#include "detectors/suppressions.h"
#include "findings/finding.h"

namespace svd {

// How many were left out.
std::uint64_t suppress(const Suppressions& rules, std::vector<Finding>& findings);

}  // namespace svd
