// SPDX-License-Identifier: Apache-2.0
#include "cu/tag_sets.h"

#include <algorithm>

namespace svd {

TagSet TagSets::unite_different(TagSet a, TagSet b, std::size_t thread) {
  if (b.word < a.word) std::swap(a, b);
  Cached& cached = cache_[(a.word * 0x9E3779B1U + b.word * 0x85EBCA77U) >> kCacheShift];
  if (cached.a == a && cached.b == b) return cached.united;
  scratch_.clear();
  auto take = [&](UnitMember member) {
    UnitMember unit = units_.of_member(member);
    if (units_.active(unit, thread)) scratch_.push_back(unit);
  };
  each(a, take);
  each(b, take);
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  if (scratch_.size() > kMost) {
    for (UnitMember member : scratch_) merge_(scratch_.front(), member);
    scratch_.assign(1, units_.of_member(scratch_.front()));
  }
  // Often one of the two has all members of the other.
  auto is = [this](TagSet set) {
    std::size_t same = 0, size = 0;
    each(set, [&](UnitMember member) {
      if (size < scratch_.size() && scratch_[size] == member) ++same;
      ++size;
    });
    return same == scratch_.size() && size == same;
  };
  TagSet united;
  if (scratch_.size() == 1) {
    united = of(scratch_.front());
  } else if (!scratch_.empty() && is(a)) {
    united = a;
  } else if (!scratch_.empty() && is(b)) {
    united = b;
  } else if (!scratch_.empty()) {
    members_.insert(members_.end(), scratch_.begin(), scratch_.end());
    united.word = close();
  }
  cached = {a, b, united};
  return united;
}

}  // namespace svd
