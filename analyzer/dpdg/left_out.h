// SPDX-License-Identifier: Apache-2.0
//
// How many instructions lay between two of a trace when they ran. Some are not in it (Gap), so that
// what is measured in a reduced trace is what is measured in the whole one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "svd/trace/event.h"

namespace svd {

class LeftOut {
 public:
  static constexpr auto kEvents = EventKinds::of<Gap>();
  // All of a run, in order.
  void event(const Event& event) {
    const auto* gap = std::get_if<Gap>(&event.body);
    if (gap == nullptr || gap->instructions == 0) return;
    std::uint64_t before = gaps_.empty() ? 0 : gaps_.back().total;
    gaps_.push_back({event.seq, before + gap->instructions});
  }

  // From one instruction to a later one.
  std::uint64_t apart(Seq first, Seq second) const {
    if (gaps_.empty()) return second - first;
    return (second - first) + (total(second) - total(first));
  }

 private:
  struct Missing {
    Seq before{};  // the instruction that comes next
    std::uint64_t total = 0;
  };
  std::uint64_t total(Seq seq) const {
    auto after =
        std::upper_bound(gaps_.begin(), gaps_.end(), seq,
                         [](Seq at, const Missing& missing) { return at < missing.before; });
    return after == gaps_.begin() ? 0 : (after - 1)->total;
  }
  std::vector<Missing> gaps_;  // ascending
};

// Of the event's thread itself.
inline std::uint64_t left_out(const Event& event) {
  const auto* gap = std::get_if<Gap>(&event.body);
  return gap != nullptr && gap->cause == GapCause::kLeftOut ? gap->instructions : 0;
}

}  // namespace svd
