// SPDX-License-Identifier: Apache-2.0
//
// The story of a slice as text, and as the "slice" object of a report in JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/output.h"
#include "common/terminal.h"
#include "slicer/explain.h"

namespace svd::cli {

struct SliceReport {
  const TraceReader& trace;
  SourceMap& source;
  const Explanation& explanation;
};

// The story, at most `entries` of its steps. In a report with findings it has no heading of its
// own.
void print_slice(const SliceReport& report, std::size_t entries, const Style& style,
                 Output& output);
// The same without a heading, as a part of a report.
void print_story(const SliceReport& report, std::size_t entries, const Style& style,
                 Output& output);
nlohmann::ordered_json slice_json(const SliceReport& report);

}  // namespace svd::cli
