// SPDX-License-Identifier: Apache-2.0

#include "findings/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "findings/member_names.h"

namespace svd {
namespace {

constexpr std::uint64_t kWord = 8;

bool has(const Finding& finding, std::string_view detector) {
  return std::find(finding.detectors.begin(), finding.detectors.end(), detector) !=
         finding.detectors.end();
}

// What is told first of a finding names its first detector.
int tier(const Finding& finding) {
  constexpr std::array kMinor{"svd-log", "svd-2pl-minor", "svd-cycle", "svd-online",
                              "race-harmless"};
  constexpr std::array kPredictions{"race-hybrid", "race-lockset"};
  auto of = [&finding](const auto& names) {
    return std::find(names.begin(), names.end(), finding.detectors.front()) != names.end();
  };
  return of(kMinor) ? 2 : of(kPredictions) ? 1 : 0;
}

bool is_log(const Finding& finding) { return finding.detectors.front() == "svd-log"; }

// What the program calls places in allocated memory, where some finding knows.
std::map<std::string, std::string> names_of_memory(const std::vector<Finding>& findings) {
  std::map<std::string, std::string> names;
  for (const Finding& finding : findings)
    if (!finding.variable.empty() && !finding.memory.empty())
      names.emplace(finding.memory, finding.variable);
  return names;
}

// "64 bytes of open (a.cc:18)", of memory that has been allocated.
std::string block(const Finding& finding) {
  return finding.memory.substr(0, finding.memory.rfind(", at "));
}

// Findings with the same key are about the same; "" is about nothing else. Elements of an array are
// the same, and where no debug information tells what the parts of a block of memory are, it is;
// so is what one system call read or wrote. One name can mean members of several types.
std::string subject(const Finding& finding, const std::map<std::string, std::string>& names) {
  if (has(finding, "declared-atomic") || has(finding, "svd-cycle")) return "";
  if (!finding.variable.empty()) return block(finding) + without_indexes(finding.variable);
  if (auto name = names.find(finding.memory); name != names.end())
    return block(finding) + without_indexes(name->second);
  const FindingAccess& access = finding.accesses.front();
  auto by_kernel = std::find_if(finding.accesses.begin(), finding.accesses.end(),
                                [](const FindingAccess& a) { return a.kernel; });
  if (finding.memory.empty() && by_kernel != finding.accesses.end())
    return fmt::format("call before {}", by_kernel->seq.value);
  if (finding.memory.empty()) return fmt::format("{:#x}", access.address.value);
  if (access.place.pc.value != 0 && access.place.line == 0) return block(finding);
  return finding.memory;
}

float nearness(const Finding& finding) {
  return finding.nearness.value_or(std::numeric_limits<float>::max());
}

bool tells_more(const Finding& a, const Finding& b) {
  auto key = [](const Finding& f) {
    bool minor = tier(f) == 2;
    return std::tuple(tier(f), minor ? nearness(f) : 0, !f.on_slice.value_or(false), ~f.score,
                      f.distance, ~f.occurrences);
  };
  return key(a) < key(b);
}

void put_together(Finding& into, Finding other) {
  if (tells_more(other, into)) std::swap(into, other);
  for (Finding& related : other.related) into.related.push_back(std::move(related));
  other.related.clear();
  for (const std::string& detector : other.detectors) {
    if (!has(into, detector)) into.detectors.push_back(detector);
  }
  if (other.on_slice.value_or(false)) into.on_slice = true;
  if (nearness(other) < nearness(into)) into.nearness = other.nearness;
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
  std::map<std::string, std::string> names = names_of_memory(findings);
  std::map<std::string, std::size_t> first;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    std::string about = subject(finding, names);
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
    bool minor = tier(finding) == 2;
    return std::tuple(!finding.on_slice.value_or(false), tier(finding),
                      minor ? nearness(finding) : 0, is_log(finding) ? finding.occurrences : 0,
                      ~finding.score, finding.serializable.value_or(false), nearness(finding),
                      -static_cast<int>(finding.detectors.size()), is_range(finding),
                      finding.distance, finding.accesses.front().seq);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&key](const Finding& a, const Finding& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < findings.size(); ++i) findings[i].id = findings[i].rank = i + 1;
}

}  // namespace svd
