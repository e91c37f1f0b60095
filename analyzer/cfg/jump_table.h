// SPDX-License-Identifier: Apache-2.0
//
// Where an indirect jump through a table can go.
#pragma once

#include <vector>

#include "cfg/code_map.h"

namespace svd {

// The entries of the table that the indirect jump at `jump` takes its target from, in `region` and
// a piece of code with the extent `piece`, whose instructions are marked; empty: not understood. A
// table without a known size ends at the first entry that leads out of the piece.
std::vector<Address> jump_table(const CodeRegion& region, const CodeRange& piece, Address jump);

}  // namespace svd
