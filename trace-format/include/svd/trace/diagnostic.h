// SPDX-License-Identifier: Apache-2.0
//
// What is imperfect about a trace that is nevertheless usable: named, counted, never dropped
// silently.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svd {

enum class Severity {
  kInfo,    // worth knowing
  kNotice,  // something was repaired and nothing was lost
  kLoss,    // something is missing; counted
  kError,   // a part of the answer is missing
};

std::string_view to_string(Severity severity);

struct Diagnostic {
  std::string name;  // stable, kebab-case: "lost-chunk"
  Severity severity = Severity::kInfo;
  std::uint64_t count = 0;
  std::string text;  // one sentence
};

// An ordered list in which repeated names add up: the count grows, the first text stays.
class Diagnostics {
 public:
  void add(std::string_view name, Severity severity, std::uint64_t count, std::string text);
  // Whether nothing was said yet of that item of that name; from now on something was. For passes
  // that meet the same item again.
  bool first(std::string_view name, std::uint64_t item);
  const std::vector<Diagnostic>& list() const { return list_; }
  bool any_loss() const;

 private:
  std::vector<Diagnostic> list_;
  std::set<std::pair<std::string, std::uint64_t>> told_;
};

}  // namespace svd
