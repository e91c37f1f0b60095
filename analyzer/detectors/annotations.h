// SPDX-License-Identifier: Apache-2.0
//
// What the binary does not show: that plain instructions synchronise. Rules in a text, one a line:
//
//     # a comment
//     atomic code MODULE FUNCTION   what this code reads and writes is atomic, also where it is
//                                   inlined
//     atomic variable GLOB          accesses to this memory are atomic: a variable of static
//                                   storage or a part of one (stop, server.stop), or what the
//                                   source calls memory that it reaches through a pointer or on the
//                                   stack (s->stop)
//
// Patterns as in rule_text.h, and names as reports write them: table[3].stop is that element. Of a
// variable that is meant all parts are. What is atomic does not
// race with what is, a write of it releases, and a read of it acquires (sync_model.h).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/rule_text.h"
#include "svd/trace/result.h"

namespace svd {

class Annotations {
 public:
  // The rules that are built in: atomic types of the C++ library.
  static Annotations built_in();

  // More rules; an Error of kind kText says which line is wrong.
  Status add(std::string_view rules, const std::string& name_for_errors);

  bool code(std::string_view module, std::string_view function) const {
    return any_means(code_, module, function.empty() ? "?" : function);
  }
  bool any_variables() const { return !variables_.empty(); }
  // Whether it is meant, or something that it is a part of.
  bool variable(const std::string& name) const;
  // Whether a part of the variable may be meant.
  bool part_of(const std::string& variable) const;

  // Rules that applied, and those of the user that did not, each as it is written.
  struct Use {
    std::string rule;
    bool built_in = false;
    std::uint64_t count = 0;  // of functions that ran, or of variables
    std::string variable{};   // the pattern, if it is of one
  };
  std::vector<Use> uses() const;

 private:
  struct VariablePattern {
    std::string glob;
    mutable std::set<std::string> used{};  // names that it meant
  };

  std::vector<CodePattern> code_;
  std::size_t built_in_ = 0;  // of them, the first
  std::vector<VariablePattern> variables_;
};

}  // namespace svd
