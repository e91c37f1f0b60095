// SPDX-License-Identifier: Apache-2.0
//
// What a run shows of its control flow that the code does not.
#pragma once

#include "cfg/discovery.h"
#include "svd/trace/reader.h"

namespace svd {

// The straight pieces of a block of machine code: what follows a jump or call inside of it can
// stand anywhere.
std::vector<LoadedBytes> straight_pieces(const Block& block);

// One scan of the trace, without what cannot be read.
Observations observe(const TraceReader& trace);

}  // namespace svd
