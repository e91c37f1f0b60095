// SPDX-License-Identifier: Apache-2.0
//
// The story of a slice as text and as the "slice" object of INTERFACE's JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/output.h"
#include "common/terminal.h"
#include "slicer/failure.h"
#include "slicer/story.h"

namespace svd::cli {

struct SliceReport {
  const TraceReader& trace;
  SourceMap& source;
  const Slice& slice;
  const Story& story;
  StoryPlace criterion;
  Instance at;
  std::string what;  // how the run ended, or what was asked for
};

// At most `entries` of them.
void print_slice(const SliceReport& report, std::size_t entries, const Style& style,
                 Output& output);
nlohmann::ordered_json slice_json(const SliceReport& report);

}  // namespace svd::cli
