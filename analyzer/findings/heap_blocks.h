// SPDX-License-Identifier: Apache-2.0
//
// In which allocated block an address was at a moment, and who allocated it: a look through the
// trace's allocations, for a few addresses at once.
#pragma once

#include <optional>
#include <vector>

#include "detectors/moments.h"
#include "svd/trace/reader.h"

namespace svd {

struct HeapBlock {
  Addr address{};
  std::uint64_t size = 0;
  StackId stack = kNoStack;
};

struct HeapQuestion {
  Addr address{};
  Moment moment{};
  std::optional<HeapBlock> block{};  // the answer
};

// Chunks that cannot be read are left out.
void find_heap_blocks(const TraceReader& trace, const Moments& moments,
                      std::vector<HeapQuestion>& questions);

}  // namespace svd
