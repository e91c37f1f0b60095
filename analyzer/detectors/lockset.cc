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
// Cost: one shadow look-up an access, set operations only where the set changes; 40 bytes a cell.
//
// It predicts: what it reports need not have raced in this run, nor ever be able to (hand-over by
// join, barrier, semaphore or a container counts as unprotected). And it misses what the exclusive
// state hides.

#include "detectors/lockset.h"

namespace svd {

void LocksetDetector::access(const Touch& access) {
  if (access.atomic || access.kind == TouchKind::kFree) return;
  shadow_.touch(access.address, access.size, [&](Cell& cell, Addr address, std::uint64_t size) {
    look(cell, access, address, size);
  });
}

void LocksetDetector::look(Cell& cell, const Touch& access, Addr address, std::uint64_t size) {
  bool write = access.writes();
  if (cell.state == State::kVirgin ||
      (cell.state == State::kExclusive && cell.last.is(access.thread))) {
    cell.state = State::kExclusive;
    cell.last = Mark(access);
    return;
  }
  LockSetId protection = write ? lock_sets_.exclusive(access.locks) : access.locks;
  if (cell.state == State::kExclusive) {
    cell.candidates = protection;
    cell.state = State::kShared;
  } else {
    cell.candidates = lock_sets_.both(cell.candidates, protection);
  }
  if (write) cell.state = State::kModified;
  if (!cell.last.is(access.thread)) cell.other = cell.last;
  cell.last = Mark(access);
  if (cell.state == State::kModified && cell.candidates == kNoLocks)
    found_.conflict(cell.other, access, address, size);
}

}  // namespace svd
