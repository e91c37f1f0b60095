// SPDX-License-Identifier: Apache-2.0

#include "detectors/rule_text.h"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace svd {

Status each_rule(std::string_view rules, const std::string& name_for_errors, const AddRule& add) {
  std::istringstream lines{std::string(rules)};
  std::string line;
  for (std::uint64_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words{line};
    std::vector<std::string> word;
    for (std::string w; words >> w && !w.starts_with('#');) word.push_back(w);
    if (word.empty()) continue;
    if (auto wrong = add(word))
      return Error{ErrorKind::kText, name_for_errors, {}, number, std::move(*wrong)};
  }
  return Done{};
}

bool glob_matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool any_means(const std::vector<CodePattern>& patterns, std::string_view module,
               std::string_view function) {
  std::string path(module);
  std::string name = path.substr(path.rfind('/') + 1);
  std::string full(function);
  std::string bare = full.substr(0, full.find('('));
  auto means = [&](const CodePattern& pattern) {
    bool meant = (glob_matches(pattern.module, name) || glob_matches(pattern.module, path)) &&
                 (glob_matches(pattern.function, full) || glob_matches(pattern.function, bare));
    if (meant && !full.empty()) pattern.used.insert(name + " " + full);
    return meant;
  };
  return std::count_if(patterns.begin(), patterns.end(), means) != 0;
}

}  // namespace svd
