// SPDX-License-Identifier: Apache-2.0

#include "findings/ranking.h"

#include <algorithm>
#include <tuple>

namespace svd {

void rank(std::vector<Finding>& findings) {
  auto key = [](const Finding& finding) {
    return std::tuple(!finding.on_slice.value_or(false), -finding.detectors.size(),
                      finding.occurrences, finding.accesses.front().seq);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&key](const Finding& a, const Finding& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < findings.size(); ++i) findings[i].id = findings[i].rank = i + 1;
}

}  // namespace svd
