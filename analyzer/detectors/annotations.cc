// SPDX-License-Identifier: Apache-2.0

#include "detectors/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "svd/trace/nearest.h"

namespace svd {
namespace {

constexpr std::string_view kBuiltIn =
    R"(# Atomic types of C++, whose loads and most stores are plain instructions, and what guards the
# initialization of static variables.
atomic code * std::atomic*
atomic code * std::__atomic*
atomic code * __gnu_cxx::__atomic*
atomic code libstdc++* __cxa_guard_*
)";

// What the rule may have meant.
std::string hint(const std::vector<std::string>& word) {
  constexpr std::array<std::string_view, 1> kFirst{"atomic"};
  constexpr std::array<std::string_view, 2> kSecond{"code", "variable"};
  if (word[0] != kFirst[0]) return did_you_mean(word[0], kFirst);
  if (word.size() < 2 || word[1] == kSecond[0] || word[1] == kSecond[1]) return "";
  return did_you_mean(word[1], kSecond);
}

// "a.b[3].c" → "a.b[3]" → "a.b" → "a" → "". What a pointer points to is no part of it.
std::string whole_of(const std::string& part) {
  std::size_t cut = part.find_last_of(".[>");
  return cut == std::string::npos || part[cut] == '>' ? "" : part.substr(0, cut);
}

}  // namespace

Annotations Annotations::built_in() {
  Annotations rules;
  SVD_CHECK(rules.add(kBuiltIn, "built-in annotations"));
  rules.built_in_ = rules.code_.size();
  return rules;
}

Status Annotations::add(std::string_view rules, const std::string& name_for_errors) {
  using Wrong = std::optional<std::string>;
  return each_rule(rules, name_for_errors, [this](const std::vector<std::string>& word) -> Wrong {
    bool atomic = word[0] == "atomic";
    if (atomic && word.size() == 4 && word[1] == "code") {
      code_.push_back({word[2], word[3]});
    } else if (atomic && word.size() == 3 && word[1] == "variable") {
      variables_.push_back({word[2]});
    } else {
      return "expected 'atomic code MODULE FUNCTION' or 'atomic variable GLOB'" + hint(word);
    }
    return std::nullopt;
  });
}

bool Annotations::variable(const std::string& name) const {
  bool meant = false;
  for (std::string whole = name; !whole.empty(); whole = whole_of(whole)) {
    for (const VariablePattern& pattern : variables_) {
      if (pattern.glob != whole && !glob_matches(pattern.glob, whole)) continue;
      pattern.used.insert(whole);
      meant = true;
    }
  }
  return meant;
}

bool Annotations::part_of(const std::string& variable) const {
  // What begins with the name is matched by a pattern of which some beginning matches the name.
  // What a pointer leads to has no name that begins with a variable's.
  return std::any_of(variables_.begin(), variables_.end(), [&](const VariablePattern& pattern) {
    if (pattern.glob.find("->") != std::string::npos) return false;
    for (std::size_t length = 1; length <= pattern.glob.size(); ++length)
      if (glob_matches(pattern.glob.substr(0, length), variable)) return true;
    return false;
  });
}

std::vector<Annotations::Use> Annotations::uses() const {
  std::vector<Use> uses;
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const CodePattern& rule = code_[i];
    bool own = i < built_in_;
    if (own && rule.used.empty()) continue;
    uses.push_back(
        {fmt::format("atomic code {} {}", rule.module, rule.function), own, rule.used.size()});
  }
  for (const VariablePattern& rule : variables_)
    uses.push_back({"atomic variable " + rule.glob, false, rule.used.size(), rule.glob});
  return uses;
}

}  // namespace svd
