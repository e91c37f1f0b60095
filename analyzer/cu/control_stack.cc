// SPDX-License-Identifier: Apache-2.0
#include "cu/control_stack.h"

#include <algorithm>

#include "dpdg/control_tracker.h"

namespace svd {

void ControlStack::at(Seq parent) {
  parent_ = parent;
  if (!abstract_) {
    // Whatever decided later is over. The parent itself may be none that was told: a call.
    if (parent == kNoParent) decisions_.clear();
    while (!decisions_.empty() && decisions_.back().seq > parent) decisions_.pop_back();
    innermost_ = static_cast<std::uint32_t>(decisions_.size());
    return;
  }
  auto after = std::upper_bound(decisions_.begin(), decisions_.end(), parent,
                                [](Seq seq, const Decision& d) { return seq < d.seq; });
  bool known = after != decisions_.begin() && std::prev(after)->seq == parent;
  innermost_ = known ? static_cast<std::uint32_t>(after - decisions_.begin()) : 0;
}

void ControlStack::decide(Seq seq, Pc pc, Pc end, TagSet condition) {
  Seq parent = abstract_ ? parent_ : forget_last_round(pc, end);
  auto outer = abstract_ ? innermost_ : static_cast<std::uint32_t>(decisions_.size());
  decisions_.push_back({seq, parent, pc, end, condition, outer});
  if (!abstract_) innermost_ = static_cast<std::uint32_t>(decisions_.size());
}

// A loop's next round takes the place of the one before: of branches of this activation that end at
// the same place, one after the other, the same one is there already. What decides about the branch
// then.
Seq ControlStack::forget_last_round(Pc pc, Pc end) {
  Seq parent = parent_;
  for (std::size_t i = decisions_.size(); i-- > 0;) {
    const Decision& decision = decisions_[i];
    if (decision.seq != parent || decision.end != end) break;
    parent = decision.parent;
    if (decision.pc != pc) continue;
    decisions_.resize(i);
    return parent;
  }
  return parent_;
}

}  // namespace svd
