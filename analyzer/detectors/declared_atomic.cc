// SPDX-License-Identifier: Apache-2.0

#include "detectors/declared_atomic.h"

namespace svd {

UnitId DeclaredAtomic::unit(ThreadIndex thread, Moment now) {
  Thread& state = threads_[thread.value];
  if (state.depth == 0 && state.moment != now) {
    state.unit = graph_.add(thread, now);
    state.moment = now;
  }
  return state.unit;
}

void DeclaredAtomic::acquire(ThreadIndex thread, ChannelId channel, EdgeKind, Moment now) {
  graph_.acquire(unit(thread, now), channel, now);
}

void DeclaredAtomic::release(ThreadIndex thread, ChannelId channel, EdgeKind, Moment now) {
  graph_.release(unit(thread, now), thread, channel, now);
}

void DeclaredAtomic::access(const Touch& access) {
  graph_.access(unit(access.thread, access.moment), access);
}

void DeclaredAtomic::atomic_block(ThreadIndex thread, bool begins, Moment now) {
  declared_ = true;
  Thread& state = threads_[thread.value];
  if (begins) {
    unit(thread, now);  // before the block is counted: it is a unit of its own
    ++state.depth;
  } else if (state.depth > 0 && --state.depth == 0) {
    state.moment = Moment();
  }
}

std::vector<RawFinding> DeclaredAtomic::findings() {
  std::vector<RawFinding> found;
  if (!declared_) return found;
  for (const std::vector<ConflictGraph::Arc>& cycle : graph_.cycles()) {
    RawFinding finding{name_, {}, 1};
    for (const ConflictGraph::Arc& arc : cycle) {
      finding.accesses.emplace_back("from", arc.first);
      finding.accesses.emplace_back("to", arc.second);
    }
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace svd
