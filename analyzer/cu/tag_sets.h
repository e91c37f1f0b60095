// SPDX-License-Identifier: Apache-2.0
//
// Which units a value follows from: a set of members, named by one word, so that a register and a
// byte of memory can have one each. A value that follows from more than kMost units has them become
// one: nothing is forgotten, and no set grows without end.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cu/units.h"

namespace svd {

// 0: the empty set.
struct TagSet {
  std::uint32_t word = 0;
  bool empty() const { return word == 0; }
  friend bool operator==(TagSet, TagSet) = default;
};

class TagSets {
 public:
  // Where units become one because they are too many, `merge` does it: Units::merge if not said.
  using Merge = std::function<void(UnitMember, UnitMember)>;
  explicit TagSets(Units& units)
      : TagSets(units, [&units](UnitMember a, UnitMember b) { units.merge(a, b); }) {}
  TagSets(Units& units, Merge merge) : units_(units), merge_(std::move(merge)), first_{0} {}

  static TagSet of(UnitMember member) { return {member | kSingle}; }

  // Units of the thread that have ended are left out.
  TagSet unite(TagSet a, TagSet b, std::size_t thread) {
    if (a == b || b.empty()) return a;
    if (a.empty()) return b;
    return unite_different(a, b, thread);
  }

  // Whether sets have been made that take as much memory again as those that were kept last, so
  // that it is worth the while to forget_but(…) those that somebody has.
  bool crowded() const { return members_.size() + first_.size() > limit_; }
  // After it other sets are the same words; generation() tells.
  // `each_held` calls its argument, rename(TagSet&), for every set that somebody has.
  template <class F>
  void forget_but(F&& each_held) {
    TagSets old(units_);
    std::swap(members_, old.members_);
    std::swap(first_, old.first_);
    cache_.fill({});
    std::vector<std::uint32_t> renamed(old.first_.size());  // 0: not met yet
    each_held([&](TagSet& set) {
      if (set.empty() || (set.word & kSingle) != 0) return;
      std::uint32_t& word = renamed[set.word];
      if (word == 0) {
        old.each(set, [this](UnitMember member) { members_.push_back(member); });
        word = close();
      }
      set.word = word;
    });
    limit_ = 2 * (members_.size() + first_.size()) + kLeastLimit;
    ++generation_;
  }
  std::uint32_t generation() const { return generation_; }

  template <class F>
  void each(TagSet set, F&& f) const {
    if (set.empty()) return;
    bool one = (set.word & kSingle) != 0;
    UnitMember single = set.word & ~kSingle;
    const UnitMember* member = one ? &single : members_.data() + first_[set.word - 1];
    const UnitMember* end = one ? &single + 1 : members_.data() + first_[set.word];
    while (member != end) f(*member++);
  }

 private:
  static constexpr std::uint32_t kSingle = 0x80000000;
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kNotTheSame = 2 * kMost + 1;
  static constexpr std::size_t kLeastLimit = std::size_t{1} << 22;  // 16 MB

  TagSet unite_different(TagSet a, TagSet b, std::size_t thread);
  std::size_t take(TagSet set, std::size_t thread);
  // What was added to members_ is a set.
  std::uint32_t close() {
    first_.push_back(static_cast<std::uint32_t>(members_.size()));
    return static_cast<std::uint32_t>(first_.size() - 1);
  }

  struct Cached {
    TagSet a, b, united;
  };
  Units& units_;
  Merge merge_;
  std::vector<UnitMember> members_;
  std::vector<std::uint32_t> first_;  // of each set that is not a single member, and the end
  std::vector<UnitMember> scratch_;
  static constexpr unsigned kCacheShift = 20;  // of the hash, whose upper 12 bits are used
  std::array<Cached, 4096> cache_{};
  std::size_t limit_ = kLeastLimit;  // of words in members_ and first_
  std::uint32_t generation_ = 0;
};

}  // namespace svd
