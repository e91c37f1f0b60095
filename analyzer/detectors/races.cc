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
  const Touch& now = sight.access;
  Clocks::Before before = clocks_.before(now.thread);
  if (racing_.size() < cell.marks.size()) racing_.resize(cell.marks.size());
  std::size_t racing = 0;
  for (BriefMark& mark : cell.marks) {
    if (!keeps(mark)) continue;
    bool ordered = before(mark);
    if (!ordered && races(mark, now)) racing_[racing++] = &mark;
    if (ordered && replaced(mark, now)) forget(mark);
  }
  for (bool reads : {false, true}) {  // writes first
    for (std::size_t i = 0; i < racing; ++i)
      if (is_read(*racing_[i]) == reads)
        found_.conflict(whole(*racing_[i]), now, sight.address, sight.size);
  }
  keep(sight.mark);
  return false;
}

}  // namespace svd
