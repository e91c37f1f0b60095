// SPDX-License-Identifier: Apache-2.0
//
// Who gave registers the values that they have before an instruction. As in the dependence graph, a
// register that an activation saved and restored keeps its writer, and the stack pointer's own
// updates are none.
#pragma once

#include <optional>
#include <vector>

#include "slicer/queries/run_view.h"

namespace svd {

// In the order of `cells`; nothing where no instruction of the trace wrote it, or where it follows
// from no data.
std::vector<std::optional<Seq>> register_writers(RunView& run, ThreadId thread, Seq before,
                                                 const std::vector<Cell>& cells);

}  // namespace svd
