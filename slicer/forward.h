// SPDX-License-Identifier: Apache-2.0
//
// The forward slice: what follows from the criterion, by one walk of the trace; and the chop, what
// lies on a way from one criterion to another.
#pragma once

#include "cfg/control_flow.h"
#include "slicer/backward.h"

namespace svd {

// Distances are from the criterion on, and SliceItem::needed_by is what the instance follows from.
// A criterion that names registers or memory begins with these as they are before its instruction,
// any other with what its instruction does. There are no order edges and no triples.
Slice slice_forward(const SliceInput& input, const ControlFlow& flow,
                    const std::vector<Criterion>& criteria, const SliceOptions& options,
                    Diagnostics& diagnostics, const ProgressFunction& progress = no_progress);

// The part of the slice backward from `to` that follows from `from`, and `to` itself.
Slice chop(const SliceInput& input, const ControlFlow& flow, const std::vector<Criterion>& from,
           const std::vector<Criterion>& to, const SliceOptions& options, Diagnostics& diagnostics,
           const ProgressFunction& progress = no_progress);

}  // namespace svd
