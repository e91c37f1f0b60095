// SPDX-License-Identifier: Apache-2.0
//
// Definition. Two accesses of different threads to a byte race when one of them writes (or frees),
// they are not atomic, and neither happens before the other: no path of program order and of
// releases that were acquired leads from one to the other (Lamport; SVD §6.2 for this use).
//
//     thread 1             thread 2
//     x = 1
//     unlock(m)
//                          lock(m)
//                          x = 2       ordered by m: no race
//     y = x                            races with x = 2
//
// race-hb counts all synchronisation as order. race-hybrid leaves out the order by locks, which
// another run can have the other way round, and asks instead that no common lock excludes the two
// (O'Callahan and Choi, 2003): it also finds races that did not show in this run, but takes a
// hand-over through a locked container for one.
//
// Where a read and a write meet, one atomic instruction makes both count as atomic: an atomic load
// is compiled to a plain one.
//
// Algorithm. A cell remembers those accesses that a later access could race with, though not with a
// newer one: an access replaces an earlier one of its kind that is before it (and that needs as
// many locks). So mostly one read and one write are remembered, as in FastTrack; but where
// FastTrack finds the first race of a location, every access that races with any earlier one is
// found.
//
// Cost: one shadow look-up and mostly two comparisons an access; 48 bytes a cell.
//
// Known unsoundness: order that no known synchronisation makes is not seen (pipes, spin loops on
// plain variables): false races. Order that was there only in this run hides races from race-hb.

#include "detectors/races.h"

namespace svd {

namespace {

bool conflict(const Mark& earlier, const Touch& now) {
  return now.writes() || earlier.kind != static_cast<std::uint32_t>(TouchKind::kRead);
}

}  // namespace

void RaceDetector::acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment) {
  if (mode_ == Mode::kHybrid && kind == EdgeKind::kLock) return;
  clocks_.acquire(thread, channel);
}

void RaceDetector::release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  if (mode_ == Mode::kHybrid && kind == EdgeKind::kLock) return;
  clocks_.release(thread, channel, now);
}

void RaceDetector::access(const Touch& access) {
  raced_ = false;
  if (!access.shared) return;
  bool happens_before = mode_ == Mode::kHappensBefore;
  Clocks::Before before = clocks_.before(access.thread);
  // What races with the mark from here on races with this access as well, so that the mark need not
  // be remembered. Without branches where it can be: whether it is so cannot be predicted.
  auto replaced = [&](const Mark& mark) {
    bool ordered = before(mark) & (mark.atomic | !access.atomic);
    return happens_before ? ordered : ordered && lock_sets_.includes(mark.lock_set(), access.locks);
  };
  auto races = [&](const Mark& mark) {
    return !before(mark) && conflict(mark, access) && !atomic_pair(mark, access) &&
           (happens_before || lock_sets_.disjoint(mark.lock_set(), access.locks));
  };
  auto look = [&](Cell& cell, Addr address, std::uint64_t size) {
    auto meet = [&](const Few<Mark>& marks) {
      for (const Mark& mark : marks) {
        if (!races(mark)) continue;
        raced_ = true;
        found_.conflict(mark, access, address, size);
      }
    };
    cell.reads.erase_if(replaced);
    if (access.writes()) {
      cell.writes.erase_if(replaced);
      meet(cell.writes);
      meet(cell.reads);
      cell.writes.add(Mark(access));
    } else {
      meet(cell.writes);
      cell.reads.add(Mark(access));
    }
  };
  if (access.kind == TouchKind::kFree) {
    shadow_.visit(access.address, access.size, look);
  } else {
    shadow_.touch(access.address, access.size, look);
  }
}

}  // namespace svd
