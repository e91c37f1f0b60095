// SPDX-License-Identifier: Apache-2.0
//
// What is not the user's, or what the user does not want to hear of: rules in a text, one a line.
//
//     # a comment
//     code MODULE FUNCTION          accesses of this code, and of system libraries that it calls,
//                                   are left out of the analysis
//     overread MODULE FUNCTION      reads of more than 8 bytes by this code may go past what it
//                                   looks at, and are left out
//     finding DETECTOR WHAT GLOB    findings are not shown; WHAT is function, file or variable, and
//                                   one access of the finding has to match
//
// DETECTOR and GLOB are shell patterns, MODULE and FUNCTION as in rule_text.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/rule_text.h"
#include "svd/trace/result.h"

namespace svd {

class Suppressions {
 public:
  // The rules that are built in: the allocator, stdio, threads, the loader.
  static Suppressions built_in();
  static std::string_view built_in_text();

  // More rules; an Error of kind kText says which line is wrong.
  Status add(std::string_view rules, const std::string& name_for_errors);

  bool code(std::string_view module, std::string_view function) const {
    return any_means(code_rules_, module, function);
  }
  bool overread(std::string_view module, std::string_view function) const {
    return any_means(overread_rules_, module, function);
  }

  struct FindingRule {
    enum class What { kFunction, kFile, kVariable };
    std::string detector;
    What what = What::kFunction;
    std::string glob;
    mutable std::uint64_t uses = 0;  // findings that it left out: suppress() counts
  };
  const std::vector<FindingRule>& finding_rules() const { return finding_rules_; }

  // The rules that applied to something, each as it is written.
  struct Use {
    std::string rule;
    bool of_finding = false;
    std::uint64_t count = 0;  // of findings, or of functions
  };
  std::vector<Use> uses() const;

 private:
  std::vector<CodePattern> code_rules_, overread_rules_;
  std::vector<FindingRule> finding_rules_;
};

}  // namespace svd
