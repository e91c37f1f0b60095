// SPDX-License-Identifier: Apache-2.0

#include "cfg/control_flow.h"

#include <algorithm>

namespace svd {

ControlFlow ControlFlow::of(const TraceReader&, Diagnostics&) { return {}; }

ControlFlow::Point ControlFlow::at(Pc pc) const {
  Point point;
  auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), pc,
                       [](Pc at, const Piece& candidate) { return at < candidate.range.begin; });
  if (piece != pieces_.begin() && pc < (--piece)->range.end) point.function = piece->function;
  auto special =
      std::lower_bound(specials_.begin(), specials_.end(), pc,
                       [](const Special& candidate, Pc at) { return candidate.pc < at; });
  if (special != specials_.end() && special->pc == pc) {
    point.post_dominator = special->post_dominator;
    point.branch = special->branch;
    point.joins = special->joins;
  }
  return point;
}

}  // namespace svd
