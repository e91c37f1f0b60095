// SPDX-License-Identifier: Apache-2.0

#include "findings/suppress.h"

#include <algorithm>

namespace svd {
namespace {

bool matches(const Suppressions::FindingRule& rule, const Finding& finding) {
  using What = Suppressions::FindingRule::What;
  bool detector = std::all_of(finding.detectors.begin(), finding.detectors.end(),
                              [&](const std::string& d) { return glob_matches(rule.detector, d); });
  if (!detector) return false;
  if (rule.what == What::kVariable) return glob_matches(rule.glob, finding.variable);
  auto meant = [&rule](const CodePlace& place) {
    return glob_matches(rule.glob, rule.what == What::kFile ? place.file : place.function);
  };
  // What is told of who called a library is in its functions, too.
  return std::any_of(
      finding.accesses.begin(), finding.accesses.end(), [&](const FindingAccess& access) {
        auto own = first_own(access.stack);
        return meant(access.place) ||
               (own != access.stack.end() &&
                std::any_of(access.stack.begin(), own,
                            [&meant](const StackFrame& frame) { return meant(frame.place); }));
      });
}

}  // namespace

std::uint64_t suppress(const Suppressions& rules, std::vector<Finding>& findings) {
  return std::erase_if(findings, [&rules](const Finding& finding) {
    return std::any_of(rules.finding_rules().begin(), rules.finding_rules().end(),
                       [&](const auto& rule) {
                         bool left_out = matches(rule, finding);
                         if (left_out) ++rule.uses;
                         return left_out;
                       });
  });
}

}  // namespace svd
