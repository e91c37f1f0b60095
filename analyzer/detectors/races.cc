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
// Cost: one shadow look-up (history.h) and mostly two comparisons an access; 44 bytes a cell.
//
// Known unsoundness: order that no known synchronisation makes is not seen (pipes, spin loops on
// plain variables): false races. Order that was there only in this run hides races from race-hb.

#include "detectors/races.h"

namespace svd {
namespace {

bool is_read(const BriefMark& mark) {
  return mark.kind == static_cast<std::uint32_t>(TouchKind::kRead);
}

}  // namespace

void RaceDetector::acquired(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment) {
  if (mode_ == Mode::kHybrid && kind == EdgeKind::kLock) return;
  clocks_.acquire(thread, channel);
}

void RaceDetector::released(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  if (mode_ == Mode::kHybrid && kind == EdgeKind::kLock) return;
  clocks_.release(thread, channel, now);
}

// Of a mark that is before the access: what races with it from here on races with this access as
// well, so that it need not be remembered.
bool RaceDetector::replaced(const BriefMark& mark, const Touch& by) {
  if (!(by.writes() || is_read(mark)) || !(mark.atomic || !by.atomic)) return false;
  return mode_ == Mode::kHappensBefore || lock_sets_.includes(lock_set(mark), by.locks);
}

// Of a mark that is not before the access.
bool RaceDetector::races(const BriefMark& mark, const Touch& now) {
  return (now.writes() || !is_read(mark)) && !atomic_pair(mark, now) &&
         (mode_ == Mode::kHappensBefore || lock_sets_.disjoint(lock_set(mark), now.locks));
}

bool RaceDetector::look(HistoryCell& cell, Sight& sight) {
  Clocks::Before before = clocks_.before(sight.access.thread);
  bool any = false;
  for (BriefMark& mark : cell.marks) {
    if (!keeps(mark)) continue;
    if (!before(mark)) {
      any |= races(mark, sight.access);
    } else if (replaced(mark, sight.access)) {
      forget(mark);
    }
  }
  if (any) tell(cell, sight);
  keep(sight.mark);
  return false;
}

// Writes first.
void RaceDetector::tell(HistoryCell& cell, const Sight& sight) {
  Clocks::Before before = clocks_.before(sight.access.thread);
  for (bool reads : {false, true}) {
    for (const BriefMark& mark : cell.marks) {
      if (keeps(mark) && is_read(mark) == reads && !before(mark) && races(mark, sight.access))
        found_.conflict(whole(mark), sight.access, sight.address, sight.size);
    }
  }
}

}  // namespace svd
