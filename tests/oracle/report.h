// SPDX-License-Identifier: Apache-2.0
//
// Counts of what was checked and how it ended; one line for each thing that is not explained.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "oracle/forms.h"

namespace svd::test {

struct Report {
  std::string title{};
  std::size_t checked = 0, equal = 0, explained = 0;  // forms
  std::map<std::string, std::size_t> left_out{};      // forms, by reason
  std::map<std::string, std::size_t> explanations{};  // differences, by what explains them
  std::vector<std::string> unexplained{};             // forms, with all that differs

  void leave_out(const std::string& reason) { ++left_out[reason]; }
  // Takes the outcome for one form; an empty text says that nothing is left unexplained.
  void add(const std::string& unexplained_text, bool any_explained);
  std::string text() const;
};

// Each `step`-th form, against the hardware and against Zydis.
Report check_hardware(const Forms& forms, std::size_t step);
Report check_zydis(const Forms& forms, std::size_t step);

std::string hex(const Code& code);

}  // namespace svd::test
