// SPDX-License-Identifier: Apache-2.0
//
// The backward slice by one reverse walk of the trace; no graph is stored.
#pragma once

#include "dpdg/code_table.h"
#include "dpdg/control_index.h"
#include "slicer/slice.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// What an instance may follow from, given once for the trace.
struct SliceInput {
  const TraceReader& trace;
  const CodeTable& code;
  const ControlIndex& control;
  // By InstrId: a number for each source line, and one for all libraries, so that what lies inside
  // of one execution of a line has no distance; empty: every instruction is a line of its own.
  std::vector<std::uint32_t> lines{};
};

Slice slice_backward(const SliceInput& input, const std::vector<Criterion>& criteria,
                     const SliceOptions& options, Diagnostics& diagnostics,
                     const ProgressFunction& progress = no_progress);

}  // namespace svd
