// SPDX-License-Identifier: Apache-2.0
//
// Where control comes together again behind a branch, as Skipper guesses it (Cher and Vijaykumar,
// 2001) and SVD's Figure 7 does: a branch over some code comes together where it goes to; if the
// instruction in front of that is a jump onwards, the code was one side of if and else, and it
// comes together where the jump goes to. Branches back are loops, and are not looked at. Of code
// that never ran nothing is known.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cu/tag_sets.h"
#include "svd/trace/reader.h"

namespace svd {

class Skipper {
 public:
  Skipper() = default;
  explicit Skipper(const TraceReader& trace);

  // Of the branch at pc; none: it is not looked at.
  std::optional<Pc> reconvergence(Pc pc) const {
    auto known = reconvergence_.find(pc);
    return known == reconvergence_.end() ? std::nullopt : std::optional(known->second);
  }
  // Whether some branch comes together there.
  bool meets(Pc pc) const { return ends_.contains(pc); }

 private:
  std::unordered_map<Pc, Pc> reconvergence_;
  std::unordered_set<Pc> ends_;
};

// The branches of one thread that have not come together again.
class SkipperStack {
 public:
  // A branch that comes together in code that is not reached any more (it returned before) stays
  // here: of more than these the oldest are forgotten.
  static constexpr std::size_t kMost = 64;

  // To be told before an instruction runs where some branch comes together.
  void at(Pc pc) {
    while (size_ != 0 && open_[(next_ - 1) % kMost].end == pc) --next_, --size_;
  }
  void push(TagSet condition, Pc end) {
    open_[next_++ % kMost] = {condition, end};
    if (size_ != kMost) ++size_;
  }
  // f(TagSet) of the conditions, but of those that it was called with since `news` became that.
  template <class F>
  void each_since(std::uint32_t news, F&& f) {
    each([&](Open& open) {
      if (std::exchange(open.told, news) != news) f(open.condition);
    });
  }
  // f(TagSet&) of the conditions.
  template <class F>
  void update(F&& f) {
    each([&](Open& open) { f(open.condition); });
  }

 private:
  struct Open {
    TagSet condition;
    Pc end{};
    std::uint32_t told = 0;  // news; 0: never
  };
  // The oldest first.
  template <class F>
  void each(F&& f) {
    for (std::size_t i = next_ - size_; i != next_; ++i) f(open_[i % kMost]);
  }

  std::array<Open, kMost> open_;  // a ring
  std::size_t next_ = 0, size_ = 0;
};

}  // namespace svd
