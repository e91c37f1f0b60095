// SPDX-License-Identifier: Apache-2.0
//
// Of one thread: what the conditions followed from that decided, one within the other, that the
// thread is where it is. ControlTracker (dpdg/control_tracker.h) says which branch that is; here is
// what was in the branch's condition.
#pragma once

#include <cstdint>
#include <vector>

#include "cu/tag_sets.h"
#include "svd/trace/types.h"

namespace svd {

class ControlStack {
 public:
  // Of an abstract trace, whose conditions do not lie within each other, all are kept.
  explicit ControlStack(bool abstract = false) : abstract_(abstract) {}

  // What follows was decided by the instance `parent`.
  void at(Seq parent);
  // The instance `seq` of the branch at `pc` decides about what comes, up to `end`.
  void decide(Seq seq, Pc pc, Pc end, TagSet condition);

  // Calls f(TagSet) for the conditions, innermost first, while it returns true.
  template <class F>
  void each(F&& f) const {
    for (std::uint32_t i = innermost_; i != 0; i = decisions_[i - 1].within)
      if (!f(decisions_[i - 1].condition)) return;
  }

  // Calls f(TagSet&) for all conditions.
  template <class F>
  void update(F&& f) {
    for (Decision& decision : decisions_) f(decision.condition);
  }

 private:
  Seq forget_last_round(Pc pc, Pc end);

  struct Decision {
    Seq seq{};
    Seq parent{};  // what decided about it: the one before it, or the activation's call
    Pc pc{};
    Pc end{};
    TagSet condition{};
    std::uint32_t within = 0;  // index of the next outer one, plus 1
  };
  bool abstract_;
  Seq parent_{};
  std::uint32_t innermost_ = 0;      // index plus 1
  std::vector<Decision> decisions_;  // by seq
};

}  // namespace svd
