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

const VectorClock& FrontierDetector::clock_at(const Mark& mark) const {
  const std::vector<Version>& versions = threads_[mark.thread].versions;
  auto after = std::upper_bound(
      versions.begin(), versions.end(), Moment(mark.moment),
      [](Moment moment, const Version& version) { return moment < version.since; });
  return (after - 1)->clock;
}

void FrontierDetector::acquire(ThreadIndex thread, ChannelId channel, EdgeKind, Moment) {
  if (channel.value < channels_.size()) new_clock(thread).join(channels_[channel.value]);
}

void FrontierDetector::release(ThreadIndex thread, ChannelId channel, EdgeKind, Moment now) {
  if (channel.value >= channels_.size()) channels_.resize(channel.value + 1);
  new_clock(thread).set(thread, now);
  channels_[channel.value].join(clock(thread.value));
}

// The newest conflict first, because it can order the others.
void FrontierDetector::order(const Touch& access) {
  std::sort(conflicts_.begin(), conflicts_.end(),
            [](const Conflict& a, const Conflict& b) { return a.mark.moment > b.mark.moment; });
  for (const Conflict& conflict : conflicts_) {
    const Mark& mark = conflict.mark;
    if (before(mark, access.thread)) continue;
    if (!atomic_pair(mark, access)) found_.conflict(mark, access, conflict.address, conflict.size);
    VectorClock& clock = new_clock(access.thread, access.moment);
    clock.join(clock_at(mark));
    clock.set(ThreadIndex(static_cast<std::uint16_t>(mark.thread)), Moment(mark.moment + 1));
  }
}

void FrontierDetector::access(const Touch& access) {
  conflicts_.clear();
  auto collect = [&](Cell& cell, Addr address, std::uint64_t size) {
    auto unordered = [&](const Mark& mark) {
      if (!before(mark, access.thread)) conflicts_.push_back({mark, address, size});
    };
    cell.writes.each(unordered);
    if (access.writes()) cell.reads.each(unordered);
  };
  auto remember = [&](Cell& cell, Addr, std::uint64_t) {
    auto replaced = [&](const Mark& mark) { return before(mark, access.thread); };
    cell.reads.remove_if(replaced);
    if (access.writes()) cell.writes.remove_if(replaced);
    (access.writes() ? cell.writes : cell.reads).add(Mark(access));
  };
  if (access.kind == TouchKind::kFree) {
    shadow_.visit(access.address, access.size, collect);
    if (!conflicts_.empty()) order(access);
    shadow_.visit(access.address, access.size, remember);
  } else {
    shadow_.touch(access.address, access.size, collect);
    if (!conflicts_.empty()) order(access);
    shadow_.touch(access.address, access.size, remember);
  }
  threads_[access.thread.value].last_access = access.moment;
}

}  // namespace svd
