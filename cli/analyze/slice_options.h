// SPDX-License-Identifier: Apache-2.0
//
// What of a slice is wanted, as `slice` and `reduce` take it: which dependences are followed, and
// how far.
#pragma once

#include <string>

#include "analyze/selection.h"
#include "common/options.h"
#include "dpdg/program_model.h"
#include "slicer/slice.h"
#include "symbols/source_map.h"

namespace svd::cli {

struct SliceWords {
  SliceOptions options{};
  SelectionText limits{};
  std::string module{};
  std::uint64_t depth = 0;
  CLI::Option* has_depth = nullptr;
};

// The paragraph of the help that explains criteria.
void explain_criteria(Command& command);
// Adds --thin, --data, --control, --saves.
void add_kinds(Command& command, SliceWords& words);
// Adds --order.
void add_order(Command& command, SliceWords& words);
// Adds --depth, --seq, --thread, --function and --module.
void add_limits(Command& command, SliceWords& words);

// With the limits, looked up in the trace. An Error of kUsage says what is not there.
Result<SliceOptions> slice_options(const SliceWords& words, const TraceReader& trace,
                                   const ProgramModel& model, Diagnostics& diagnostics);

}  // namespace svd::cli
