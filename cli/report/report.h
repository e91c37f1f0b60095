// SPDX-License-Identifier: Apache-2.0
//
// What one analysis of a trace has to tell, and the forms in which it is told: a file for each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/output.h"
#include "common/terminal.h"
#include "detectors/rules.h"
#include "findings/finding.h"
#include "report/slice_text.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd::cli {

struct Report {
  const TraceReader& trace;
  CodePlace last_place{};             // of the run's last instruction, where it ended in a thread
  std::vector<Finding> findings{};    // ranked
  std::vector<std::string> looked{};  // names of the detectors that ran
  std::uint64_t suppressed = 0;       // findings that are not shown
  std::vector<Suppressions::Use> suppressions{};  // the rules that applied
  std::vector<Annotations::Use> annotations{};    // the same, and those of the user that did not
  const SliceReport* slice = nullptr;             // of the failure, if the run failed
  Diagnostics diagnostics{};
  std::vector<std::pair<std::string, std::uint64_t>> statistics{};
};

void print_text(const Report& report, const Style& style, Output& output);
void print_suppressions(const Report& report, Output& output);
void print_json(const Report& report, Output& output);

}  // namespace svd::cli
