// SPDX-License-Identifier: Apache-2.0

#include "findings/ranking.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace svd {
namespace {

constexpr std::uint64_t kWord = 8;

bool has(const Finding& finding, std::string_view detector) {
  return std::find(finding.detectors.begin(), finding.detectors.end(), detector) !=
         finding.detectors.end();
}

bool is_log(const Finding& finding) { return has(finding, "svd-log"); }
bool is_prediction(const Finding& finding) {
  return (has(finding, "race-hybrid") || has(finding, "race-lockset")) &&
         !has(finding, "race-hb") && !has(finding, "race-frontier");
}
bool is_minor(const Finding& finding) {
  return finding.detectors.size() == 1 &&
         (has(finding, "svd-2pl-minor") || has(finding, "svd-cycle") ||
          has(finding, "svd-online") || has(finding, "race-harmless"));
}
int tier(const Finding& finding) {
  return is_log(finding) || is_minor(finding) ? 2 : is_prediction(finding) ? 1 : 0;
}

// Findings with the same key are about the same; "" is about nothing else.
std::string subject(const Finding& finding) {
  std::string memory = finding.variable.empty() ? finding.memory : finding.variable;
  if (memory.empty() || has(finding, "declared-atomic") || has(finding, "svd-cycle")) return "";
  if (is_log(finding)) return "log " + memory;
  bool minor =
      has(finding, "svd-2pl-minor") || has(finding, "svd-online") || has(finding, "race-harmless");
  return (minor ? "minor " : "race ") + memory;
}

bool tells_more(const Finding& a, const Finding& b) {
  return std::tuple(-tier(a), a.score, b.distance, a.occurrences) >
         std::tuple(-tier(b), b.score, a.distance, b.occurrences);
}

void put_together(Finding& into, Finding other) {
  if (tells_more(other, into)) std::swap(into, other);
  for (Finding& related : other.related) into.related.push_back(std::move(related));
  other.related.clear();
  for (const std::string& detector : other.detectors) {
    if (!has(into, detector)) into.detectors.push_back(detector);
  }
  if (other.on_slice.value_or(false)) into.on_slice = true;
  if (other.fingerprint != into.fingerprint) into.related.push_back(std::move(other));
}

// The same thing in other objects is told once.
void count_alike(std::vector<Finding>& findings) {
  std::map<std::string, std::size_t> first;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    auto [known, added] = first.emplace(finding.fingerprint, kept.size());
    if (added) {
      kept.push_back(std::move(finding));
      continue;
    }
    Finding& same = kept[known->second];
    std::uint64_t occurrences = same.occurrences + finding.occurrences;
    if (tells_more(finding, same)) same = std::move(finding);
    same.occurrences = occurrences;
  }
  findings = std::move(kept);
}

void put_together(std::vector<Finding>& findings) {
  std::map<std::string, std::size_t> first;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    std::string about = subject(finding);
    auto [known, added] = first.emplace(about, kept.size());
    if (added || about.empty()) {
      kept.push_back(std::move(finding));
    } else {
      put_together(kept[known->second], std::move(finding));
    }
  }
  findings = std::move(kept);
}

bool is_range(const Finding& finding) {
  return std::any_of(finding.accesses.begin(), finding.accesses.end(),
                     [](const FindingAccess& a) { return a.kernel || a.size > kWord; });
}

}  // namespace

void rank(std::vector<Finding>& findings) {
  count_alike(findings);
  put_together(findings);
  auto key = [](const Finding& finding) {
    return std::tuple(!finding.on_slice.value_or(false), tier(finding),
                      is_log(finding) ? finding.occurrences : 0, ~finding.score,
                      finding.serializable.value_or(false),
                      -static_cast<int>(finding.detectors.size()), is_range(finding),
                      finding.distance, finding.accesses.front().seq);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&key](const Finding& a, const Finding& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < findings.size(); ++i) findings[i].id = findings[i].rank = i + 1;
}

}  // namespace svd
