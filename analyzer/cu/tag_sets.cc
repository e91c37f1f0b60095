// SPDX-License-Identifier: Apache-2.0
#include "cu/tag_sets.h"

#include <algorithm>
#include <functional>

namespace svd {

// Adds those of its units that have not ended. How many, if it is still a set of just these; else
// more than there can be.
std::size_t TagSets::take(TagSet set, std::size_t thread) {
  std::size_t before = scratch_.size();
  bool same = true;
  each(set, [&](UnitMember member) {
    UnitMember unit = units_.if_active(member, thread);
    same = same && unit == member;
    if (unit != 0) scratch_.push_back(unit);
  });
  return same ? scratch_.size() - before : kNotTheSame;
}

TagSet TagSets::unite_different(TagSet a, TagSet b, std::size_t thread) {
  if (b.word < a.word) std::swap(a, b);
  Cached& cached = cache_[(a.word * 0x9E3779B1U + b.word * 0x85EBCA77U) >> kCacheShift];
  if (cached.a == a && cached.b == b) return cached.united;
  scratch_.clear();
  std::size_t of_a = take(a, thread);
  std::size_t of_b = take(b, thread);
  // Mostly one of the two is of younger units.
  if (std::adjacent_find(scratch_.begin(), scratch_.end(), std::greater_equal()) !=
      scratch_.end()) {
    std::sort(scratch_.begin(), scratch_.end());
    scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  }
  std::size_t size = scratch_.size();
  if (scratch_.size() > kMost) {
    for (UnitMember member : scratch_) merge_(scratch_.front(), member);
    scratch_.assign(1, units_.of_member(scratch_.front()));
  }
  TagSet united;
  if (scratch_.size() == 1) {
    united = of(scratch_.front());
  } else if (size != 0 && size == of_a) {  // often one of the two has all members of the other
    united = a;
  } else if (size != 0 && size == of_b) {
    united = b;
  } else if (!scratch_.empty()) {
    members_.insert(members_.end(), scratch_.begin(), scratch_.end());
    united.word = close();
  }
  cached = {a, b, united};
  return united;
}

}  // namespace svd
