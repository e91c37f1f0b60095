// SPDX-License-Identifier: Apache-2.0
//
// Sets of locks, each kept once and named by a number, so that an access can remember under which
// locks it was made in four bytes. A lock that is held for reading excludes only writers. For any
// number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

using LockSetId = Name<struct LockSetTag, std::uint32_t>;
inline constexpr LockSetId kNoLocks{0};

struct HeldLock {
  Addr object{};
  bool shared = false;  // held for reading
  friend auto operator<=>(const HeldLock&, const HeldLock&) = default;
};

class LockSets {
 public:
  using Set = std::vector<HeldLock>;  // ascending, no lock twice

  LockSets() { id({}); }

  LockSetId id(const Set& set);
  const Set& operator[](LockSetId id) const {
    std::lock_guard lock(mutex_);
    return *sets_[id.value];
  }

  LockSetId with(LockSetId set, HeldLock lock);
  LockSetId without(LockSetId set, Addr lock);
  // The locks of both; one is shared when it is in either.
  LockSetId both(LockSetId a, LockSetId b);
  // Those held for writing: what protects a write.
  LockSetId exclusive(LockSetId set);

  // Whether no lock keeps the two from happening at once.
  bool disjoint(LockSetId a, LockSetId b);
  // Whether `big` protects against all that `small` protects against.
  bool includes(LockSetId big, LockSetId small);

 private:
  template <class F>
  auto cached(std::map<std::pair<LockSetId, LockSetId>, decltype(std::declval<F>()())>& cache,
              LockSetId a, LockSetId b, F&& compute);

  mutable std::recursive_mutex mutex_;
  std::map<Set, LockSetId> ids_;
  std::vector<const Set*> sets_;
  std::map<std::pair<LockSetId, LockSetId>, bool> disjoint_, includes_;
  std::map<std::pair<LockSetId, LockSetId>, LockSetId> both_;
};

}  // namespace svd
