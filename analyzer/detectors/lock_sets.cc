// SPDX-License-Identifier: Apache-2.0

#include "detectors/lock_sets.h"

#include <algorithm>

namespace svd {

LockSetId LockSets::id(const Set& set) {
  std::lock_guard lock(mutex_);
  auto [entry, added] = ids_.emplace(set, LockSetId(static_cast<std::uint32_t>(sets_.size())));
  if (added) sets_.push_back(&entry->first);
  return entry->second;
}

LockSetId LockSets::with(LockSetId set, HeldLock lock) {
  Set locks = (*this)[set];
  auto same = [lock](const HeldLock& l) { return l.object == lock.object; };
  if (std::any_of(locks.begin(), locks.end(), same)) return set;  // recursive: the first one counts
  locks.insert(std::upper_bound(locks.begin(), locks.end(), lock), lock);
  return id(locks);
}

LockSetId LockSets::without(LockSetId set, Addr lock) {
  Set locks = (*this)[set];
  std::erase_if(locks, [lock](const HeldLock& l) { return l.object == lock; });
  return id(locks);
}

template <class F>
auto LockSets::cached(
    std::map<std::pair<LockSetId, LockSetId>, decltype(std::declval<F>()())>& cache, LockSetId a,
    LockSetId b, F&& compute) {
  std::lock_guard lock(mutex_);
  auto [entry, added] = cache.try_emplace({a, b});
  if (added) entry->second = compute();
  return entry->second;
}

LockSetId LockSets::both(LockSetId a, LockSetId b) {
  if (a == b) return a;
  if (a == kNoLocks || b == kNoLocks) return kNoLocks;
  return cached(both_, a, b, [&] {
    Set common;
    for (const HeldLock& x : (*this)[a]) {
      for (const HeldLock& y : (*this)[b]) {
        if (x.object == y.object) common.push_back({x.object, x.shared || y.shared});
      }
    }
    return id(common);
  });
}

LockSetId LockSets::exclusive(LockSetId set) {
  Set locks = (*this)[set];
  std::erase_if(locks, [](const HeldLock& l) { return l.shared; });
  return id(locks);
}

bool LockSets::disjoint(LockSetId a, LockSetId b) {
  if (a == kNoLocks || b == kNoLocks) return true;
  return cached(disjoint_, a, b, [&] {
    for (const HeldLock& x : (*this)[a]) {
      for (const HeldLock& y : (*this)[b]) {
        if (x.object == y.object && !(x.shared && y.shared)) return false;
      }
    }
    return true;
  });
}

bool LockSets::includes(LockSetId big, LockSetId small) {
  if (small == kNoLocks || small == big) return true;
  if (big == kNoLocks) return false;
  return cached(includes_, big, small, [&] {
    const Set& locks = (*this)[big];
    const Set& wanted = (*this)[small];
    return std::all_of(wanted.begin(), wanted.end(), [&locks](const HeldLock& w) {
      return std::any_of(locks.begin(), locks.end(), [&w](const HeldLock& l) {
        return l.object == w.object && (w.shared || !l.shared);
      });
    });
  });
}

}  // namespace svd
