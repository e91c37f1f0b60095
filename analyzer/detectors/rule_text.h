// SPDX-License-Identifier: Apache-2.0
//
// What files of rules have in common: one rule a line, in words; # begins a comment; shell patterns
// (*, ?, [a-z]); code by MODULE and FUNCTION. A module is meant by its path or file name, a
// function with or without its parameters.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/result.h"

namespace svd {

// Calls add(words) for each rule, which answers with what is wrong with it. An Error of kind kText
// says in which line.
using AddRule = std::function<std::optional<std::string>(const std::vector<std::string>& words)>;
Status each_rule(std::string_view rules, const std::string& name_for_errors, const AddRule& add);

bool glob_matches(const std::string& pattern, const std::string& text);

struct CodePattern {
  std::string module, function;
  mutable std::set<std::string> used{};  // modules and functions that it was asked about and meant
};

// All are asked, so that each knows what it meant.
bool any_means(const std::vector<CodePattern>& patterns, std::string_view module,
               std::string_view function);

}  // namespace svd
