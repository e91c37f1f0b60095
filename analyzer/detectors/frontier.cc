// SPDX-License-Identifier: Apache-2.0
//
// Definition (SVD §6.2, Choi and Min, 1991). Two conflicting accesses of different threads are a
// frontier race when nothing else orders them: no path of program order, synchronisation and other
// conflicts, each taken in the direction of this run, leads from the one to the other.
//
//     thread 1: x = 1   y = 1
//     thread 2:                 a = y   b = x
//
// y is a frontier race. x is none: 1 wrote x before y, and 2 read x after y, so that whoever says
// what orders the accesses to y has said it for x, too.
//
// Conflicts on locks and of atomic accesses are synchronisation and known; what is reported are
// data races, a subset of those of race-hb from which the others follow.
//
// Algorithm. Vector clocks in which every conflict is a release and an acquisition. A remembered
// access needs the clock that its thread had then: clocks are kept in versions, a new one when a
// clock changes after an access. An access meets the newest conflicting access first: what that one
// is after is no frontier race any more.
//
// Cost: as race-hb, plus a version (8 bytes a thread) for each acquisition and frontier race.

#include "detectors/frontier.h"

#include <algorithm>

namespace svd {
namespace {

bool is_read(const BriefMark& mark) {
  return mark.kind == static_cast<std::uint32_t>(TouchKind::kRead);
}

}  // namespace

VectorClock& FrontierDetector::new_clock(ThreadIndex thread, Moment since) {
  Thread& state = threads_[thread.value];
  Moment last = state.versions.back().since;
  if (last <= state.last_access && last != since)
    state.versions.push_back({since, state.versions.back().clock});
  return state.versions.back().clock;
}

VectorClock& FrontierDetector::new_clock(ThreadIndex thread) {
  return new_clock(thread, threads_[thread.value].last_access + 1);
}

const VectorClock& FrontierDetector::clock_at(const BriefMark& mark) const {
  const std::vector<Version>& versions = threads_[mark.thread].versions;
  auto after = std::upper_bound(
      versions.begin(), versions.end(), Moment(mark.moment),
      [](Moment moment, const Version& version) { return moment < version.since; });
  return (after - 1)->clock;
}

void FrontierDetector::acquired(ThreadIndex thread, ChannelId channel, EdgeKind, Moment) {
  if (channel.value < channels_.size()) new_clock(thread).join(channels_[channel.value]);
}

void FrontierDetector::released(ThreadIndex thread, ChannelId channel, EdgeKind, Moment now) {
  if (channel.value >= channels_.size()) channels_.resize(channel.value + 1);
  new_clock(thread).set(thread, now);
  channels_[channel.value].join(clock(thread.value));
}

// The newest conflict first, because it can order the others.
void FrontierDetector::order(const Touch& access) {
  std::sort(conflicts_.begin(), conflicts_.end(),
            [](const Conflict& a, const Conflict& b) { return a.mark.moment > b.mark.moment; });
  for (const Conflict& conflict : conflicts_) {
    const BriefMark& mark = conflict.mark;
    if (before(mark, access.thread)) continue;
    if (!atomic_pair(mark, access))
      found_.conflict(whole(mark), access, conflict.address, conflict.size);
    VectorClock& clock = new_clock(access.thread, access.moment);
    clock.join(clock_at(mark));
    clock.set(ThreadIndex(static_cast<std::uint16_t>(mark.thread)), Moment(mark.moment + 1));
  }
}

bool FrontierDetector::replaced(const BriefMark& mark, const Touch& by) const {
  return keeps(mark) && (is_read(mark) || by.writes()) && before(mark, by.thread);
}

bool FrontierDetector::look(HistoryCell& cell, Sight& sight) {
  const Touch& access = sight.access;
  auto conflicts = [&](const BriefMark& mark) {
    return keeps(mark) && (access.writes() || !is_read(mark)) && !before(mark, access.thread);
  };
  bool any = false;
  for (BriefMark& mark : cell.marks) {
    if (replaced(mark, access)) forget(mark);
    any |= conflicts(mark);
  }
  for (bool reads : {false, true}) {
    if (!any) break;
    for (const BriefMark& mark : cell.marks) {
      if (is_read(mark) == reads && conflicts(mark))
        conflicts_.push_back({mark, sight.address, sight.size});
    }
  }
  keep(sight.mark);
  threads_[access.thread.value].last_access = access.moment;
  return any;
}

// What the conflicts put in order need not be remembered, either.
void FrontierDetector::settle(const Touch& access) {
  order(access);
  conflicts_.clear();
  history().visit(access.address, access.size, [&](HistoryCell& cell) {
    for (BriefMark& mark : cell.marks) {
      bool itself = mark.moment == access.moment.value && is_read(mark) != access.writes();
      if (!itself && replaced(mark, access)) forget(mark);
    }
  });
}

}  // namespace svd
