// SPDX-License-Identifier: Apache-2.0
//
// Definition (Eraser, Savage et al., 1997). A byte belongs to the first thread that accesses it
// (exclusive) until another thread does. From then on its candidates are the locks that were held
// at every access; while it is only read it is shared, with the first write it is shared-modified,
// and shared-modified without candidates is reported. A lock held for reading does not protect a
// write.
//
//     thread 1                      thread 2
//     x = 1          exclusive
//                                   lock(m); x = 2; unlock(m)    modified, candidates {m}
//     lock(n); y = x; unlock(n)                                  candidates {}: reported
//
// Atomic accesses need no lock and change nothing. Memory that is given back and allocated again
// starts anew.
//
// Cost: one shadow look-up (history.h) an access, set operations only where the set changes.
//
// It predicts: what it reports need not have raced in this run, nor ever be able to (hand-over by
// join, barrier, semaphore or a container counts as unprotected). And it misses what the exclusive
// state hides.

#include "detectors/lockset.h"

#include <utility>

namespace svd {

bool LocksetDetector::look(HistoryCell& cell, Sight& sight) {
  const Touch& access = sight.access;
  if (access.atomic || access.kind == TouchKind::kFree) return false;
  BriefMark* last = nullptr;
  BriefMark* other = nullptr;
  for (BriefMark& mark : cell.marks) {
    if (keeps(mark)) other = std::exchange(last, &mark);
  }
  keep(sight.mark);
  if (cell.state == kVirgin || (cell.state == kExclusive && last->is(access.thread))) {
    cell.state = kExclusive;
    if (last != nullptr) forget(*last);
    return false;
  }
  bool write = access.writes();
  LockSetId candidates(cell.candidates);
  bool first = cell.state == kExclusive;
  if (first || candidates != kNoLocks) {
    LockSetId protection = write ? lock_sets_.exclusive(access.locks) : access.locks;
    candidates = first ? protection : lock_sets_.both(candidates, protection);
  }
  cell.candidates = candidates.value & ((std::uint32_t{1} << 30) - 1);
  if (first) cell.state = kShared;
  if (write) cell.state = kModified;
  if (last->is(access.thread)) {
    forget(*last);
  } else {
    if (other != nullptr) forget(*other);
    other = last;
  }
  if (cell.state == kModified && candidates == kNoLocks)
    found_.conflict(whole(*other), access, sight.address, sight.size);
  return false;
}

}  // namespace svd
