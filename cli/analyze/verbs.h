// SPDX-License-Identifier: Apache-2.0
//
// The verbs of svd-analyze: one function and one file each. A verb gets the words after its name
// and returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/options.h"

namespace svd::cli {

int run_analyze(const Arguments& arguments);
// Whether the word is an option of analyze whose value is the next word; none if it is no option.
std::optional<bool> analyze_takes_value(const std::string& word);
int run_assemble(const Arguments& arguments);
int run_cus(const Arguments& arguments);
int run_dump(const Arguments& arguments);
int run_export(const Arguments& arguments);
int run_graph(const Arguments& arguments);
int run_import(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_recover(const Arguments& arguments);
int run_reduce(const Arguments& arguments);
int run_shell(const Arguments& arguments);
int run_slice(const Arguments& arguments);
// The same where no word is a criterion, because it has been said.
int run_slice_from(const Arguments& arguments, const std::string& criterion);
int run_verify(const Arguments& arguments);

struct Verb {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
};

}  // namespace svd::cli
