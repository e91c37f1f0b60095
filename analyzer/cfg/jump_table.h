// SPDX-License-Identifier: Apache-2.0
//
// Where an indirect jump through a table can go.
#pragma once

#include <vector>

#include "cfg/code_map.h"

namespace svd {

struct JumpTable {
  Address address = 0;
  std::uint8_t entry_size = 0;
  std::vector<Address> targets{};  // empty: not understood
  // The code tells how many there are. Otherwise there are as many as lead into the piece, and the
  // last ones may be none.
  bool sized = true;
};

// The table that the indirect jump at `jump` takes its target from, in `region` and a piece of code
// with the extent `piece`, whose instructions are marked.
JumpTable jump_table(const CodeRegion& region, const CodeRange& piece, Address jump);

}  // namespace svd
