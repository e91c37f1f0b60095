// SPDX-License-Identifier: Apache-2.0

#include "detectors/sync_model.h"

#include <cerrno>
#include <variant>

namespace svd {
namespace {

constexpr std::uint64_t kFirstRound = 16;  // parts of a barrier's channel: its rounds, from here on

// A lock whose owner died is taken, too.
bool taken(const Sync& sync) { return sync.result == 0 || sync.result == EOWNERDEAD; }

}  // namespace

struct SyncModel::At {
  ThreadIndex thread;
  Moment now;
  OrderListener& listener;
};

SyncModel::SyncModel(const TraceReader& trace, LockSets& lock_sets) : lock_sets_(lock_sets) {
  for (const ThreadInfo& thread : trace.threads()) {
    indices_.emplace(thread.id, ThreadIndex(static_cast<std::uint16_t>(held_.size())));
    held_.push_back(kNoLocks);
    waits_.emplace_back();
  }
}

ChannelId SyncModel::channel(std::uint64_t object, std::uint64_t part) {
  auto next = ChannelId(static_cast<std::uint32_t>(channels_.size()));
  return channels_.emplace(Key{object, part}, next).first->second;
}

void SyncModel::event(const Event& event, Moment now, OrderListener& listener) {
  if (auto fresh = fresh_memory(event)) forget(*fresh);
  At at{index(event.thread), now, listener};
  std::visit([&](const auto& body) { on(at, body); }, event.body);
}

void SyncModel::read(ThreadIndex thread, Addr address, Moment now, OrderListener& listener) {
  auto written = channels_.find({address.value, static_cast<std::uint64_t>(Part::kAtomic)});
  if (written != channels_.end()) listener.acquire(thread, written->second, EdgeKind::kAtomic, now);
}

void SyncModel::atomic_write(ThreadIndex thread, Addr address, Moment now,
                             OrderListener& listener) {
  atomics_[atomics_bit(address)] = true;
  listener.release(thread, channel(address, Part::kAtomic), EdgeKind::kAtomic, now);
}

void SyncModel::flag_read(ThreadIndex thread, Addr address, bool waits, Moment now,
                          OrderListener& listener) {
  EdgeKind kind = waits ? EdgeKind::kOrder : EdgeKind::kAtomic;
  listener.acquire(thread, channel(address, Part::kFlag), kind, now);
}

void SyncModel::flag_write(ThreadIndex thread, Addr address, Moment now, OrderListener& listener) {
  listener.release(thread, channel(address, Part::kFlag), EdgeKind::kOrder, now);
}

// The child has done nothing yet, so it can acquire at once.
void SyncModel::on(const At& at, const ThreadCreate& create) {
  auto child = indices_.find(create.child);
  if (child == indices_.end()) return;
  ChannelId started = channel(Addr(create.child.value), Part::kThread);
  at.listener.release(at.thread, started, EdgeKind::kOrder, at.now);
  at.listener.acquire(child->second, started, EdgeKind::kOrder, at.now);
}

void SyncModel::on(const At& at, const ThreadJoin& join) {
  auto child = indices_.find(join.child);
  if (child == indices_.end() || join.phase == Phase::kBegin || join.result != 0) return;
  ChannelId ended = channel(Addr(join.child.value), Part::kThread);
  at.listener.release(child->second, ended, EdgeKind::kOrder, at.now);
  at.listener.acquire(at.thread, ended, EdgeKind::kOrder, at.now);
}

void SyncModel::on(const At& at, const Sync& sync) {
  bool begins = sync.phase == Phase::kBegin;
  bool done = !begins && sync.result == 0;
  switch (sync.op) {
    case SyncOp::kMutexLock:
    case SyncOp::kMutexTrylock:
    case SyncOp::kMutexTimedlock:
    case SyncOp::kSpinLock:
    case SyncOp::kSpinTrylock:
    case SyncOp::kRwlockWrlock:
    case SyncOp::kRwlockTrywrlock:
    case SyncOp::kRwlockTimedwrlock:
      if (!begins && taken(sync)) lock(at, sync.object, false);
      break;
    case SyncOp::kRwlockRdlock:
    case SyncOp::kRwlockTryrdlock:
    case SyncOp::kRwlockTimedrdlock:
      if (done) lock(at, sync.object, true);
      break;
    case SyncOp::kMutexUnlock:
    case SyncOp::kSpinUnlock:
    case SyncOp::kRwlockUnlock:
      if (sync.phase != Phase::kEnd) unlock(at, sync.object);
      break;
    case SyncOp::kCondWait:
    case SyncOp::kCondTimedwait:
      if (begins) {
        unlock(at, sync.second);
        waits_[at.thread.value] = Wait{sync.object, sync.second};
      } else {
        end_wait(at, {sync.object, sync.second}, done);
      }
      break;
    case SyncOp::kCondSignal:
    case SyncOp::kCondBroadcast:
    case SyncOp::kSemPost:
    case SyncOp::kFutexWake:
      if (sync.phase != Phase::kEnd)
        at.listener.release(at.thread, channel(sync.object, Part::kMain), EdgeKind::kOrder, at.now);
      break;
    case SyncOp::kSemWait:
    case SyncOp::kSemTrywait:
    case SyncOp::kSemTimedwait:
    case SyncOp::kFutexWait:
      if (done)
        at.listener.acquire(at.thread, channel(sync.object, Part::kMain), EdgeKind::kOrder, at.now);
      break;
    case SyncOp::kBarrierInit:
      barriers_[sync.object].count = sync.argument;
      break;
    case SyncOp::kBarrierWait:
      barrier(at, sync);
      break;
    case SyncOp::kOnce:
      once(at, sync);
      break;
    default:
      break;
  }
}

void SyncModel::end_wait(const At& at, Wait wait, bool done) {
  waits_[at.thread.value].reset();
  lock(at, wait.mutex, false);
  if (done)
    at.listener.acquire(at.thread, channel(wait.condition, Part::kMain), EdgeKind::kOrder, at.now);
}

void SyncModel::goes_on(ThreadIndex thread, Moment now, OrderListener& listener) {
  end_wait({thread, now, listener}, *waits_[thread.value], true);
}

void SyncModel::lock(const At& at, Addr object, bool shared) {
  at.listener.acquire(at.thread, channel(object, Part::kMain), EdgeKind::kLock, at.now);
  if (!shared)
    at.listener.acquire(at.thread, channel(object, Part::kReaders), EdgeKind::kLock, at.now);
  LockSetId& held = held_[at.thread.value];
  held = lock_sets_.with(held, {object, shared});
}

void SyncModel::unlock(const At& at, Addr object) {
  LockSetId& held = held_[at.thread.value];
  bool shared = false;
  for (const HeldLock& lock : lock_sets_[held]) shared |= lock.object == object && lock.shared;
  held = lock_sets_.without(held, object);
  at.listener.release(at.thread, channel(object, shared ? Part::kReaders : Part::kMain),
                      EdgeKind::kLock, at.now);
}

// Who arrives releases to the round that is gathering, who leaves acquires from the round that it
// arrived in. Where the count is not known all are one round.
void SyncModel::barrier(const At& at, const Sync& sync) {
  Barrier& barrier = barriers_[sync.object];
  if (barrier.count == 0) barrier.count = sync.argument;
  std::uint64_t& round = rounds_[{sync.object, at.thread}];
  if (sync.phase != Phase::kEnd) {
    round = barrier.round;
    at.listener.release(at.thread, channel(sync.object.value, kFirstRound + round),
                        EdgeKind::kOrder, at.now);
    if (++barrier.arrived == barrier.count) barrier.arrived = 0, ++barrier.round;
  }
  if (sync.phase != Phase::kBegin) {
    at.listener.acquire(at.thread, channel(sync.object.value, kFirstRound + round),
                        EdgeKind::kOrder, at.now);
  }
}

// One of those who have called when the first one comes back did it, which is not told, and then it
// is done.
void SyncModel::once(const At& at, const Sync& sync) {
  Once& once = onces_[sync.object];
  ChannelId done = channel(sync.object, Part::kOnce);
  if (!once.done) {
    once.callers.insert(at.thread);
    if (sync.phase == Phase::kBegin) return;
    once.done = true;
    for (ThreadIndex caller : once.callers)
      at.listener.release(caller, done, EdgeKind::kOrder, at.now);
  }
  if (sync.phase != Phase::kBegin) at.listener.acquire(at.thread, done, EdgeKind::kOrder, at.now);
}

// What lies there from now on has not been done yet.
void SyncModel::forget(Range fresh) {
  auto once = onces_.lower_bound(fresh.address);
  while (once != onces_.end() && once->first.value - fresh.address.value < fresh.size)
    once = onces_.erase(once);
}

}  // namespace svd
