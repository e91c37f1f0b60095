// SPDX-License-Identifier: Apache-2.0
//
// All order edges around a slice, also those that follow from others (slicing paper, §3.1: of three
// writes D4, D5, D6 by three threads D4 -> D6 is left out, but a slice that holds D6 restores it,
// because the race may be there).
#pragma once

#include <vector>

#include "dpdg/sequencers.h"
#include "dpdg/thread_order.h"
#include "slicer/backward.h"

namespace svd {

// Folded as those of Slice::races. The slice knows which instances it holds; `criteria` are those
// it was made from. With sequencers only what they leave unordered. Cost: linear in the trace, and
// for each byte that the slice accesses in the distinct instructions that write it.
std::vector<RaceEdge> restored_edges(const SliceInput& input, const Slice& slice,
                                     const std::vector<Criterion>& criteria,
                                     const SliceOptions& options, const ThreadOrder& order,
                                     const Sequencers* sequencers, Diagnostics& diagnostics);

// Where an order edge stands in the story: by how many instructions its ends are apart, and the
// distance of the end that is in the slice.
float race_key(std::uint64_t apart, float distance);

}  // namespace svd
