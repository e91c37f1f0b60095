// SPDX-License-Identifier: Apache-2.0
//
// What the trace's events mean for the order between threads: each becomes acquisitions and
// releases of channels, and changes to the set of locks that a thread holds.
//
//   mutex, spin lock   unlock releases, a successful lock acquires (lock edges)
//   rwlock             unlock by a writer is acquired by all, by a reader only by writers
//   condition          a wait unlocks and locks its mutex; what was signalled is acquired
//   semaphore, futex   post and wake release, a successful wait acquires
//   barrier            who leaves a round acquires from all who came to it
//   once               who comes back acquires from all who had called when the first one came back
//   create, join       the child acquires from its creator, who joins acquires from the child
//   atomic accesses    a write releases, and any read of that address acquires
//   flags              the same; what a loop waits for, one had to wait for
//
// Known unsoundness: a failed unlock or destroy still releases; a signal orders all waits on the
// condition that end after it; an object passes on what was released to those whose memory it was
// given. Atomic transactions (Atomic events) order nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "detectors/touch.h"
#include "dpdg/lifetimes.h"
#include "svd/trace/event.h"
#include "svd/trace/reader.h"

namespace svd {

// From `now` on the thread is after all that was released to the channel (acquired); what it did
// before `now` is before what others do after acquiring the channel (released).
struct OrderEdge {
  ThreadIndex thread;
  ChannelId channel;
  EdgeKind kind;
  Moment now;
  bool acquired;
};

// Hears in what order threads are put.
class OrderListener {
 public:
  virtual ~OrderListener() = default;
  // What the thread does from `now` on is after all that was released to the channel.
  virtual void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) = 0;
  // What the thread did before `now` is before what others do after acquiring the channel.
  virtual void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) = 0;
};

class SyncModel {
 public:
  SyncModel(const TraceReader& trace, LockSets& lock_sets);

  ThreadIndex index(ThreadId thread) const { return indices_.at(thread); }
  std::size_t threads() const { return held_.size(); }
  LockSetId held(ThreadIndex thread) const { return held_[thread.value]; }

  void event(const Event& event, Moment now, OrderListener& listener);
  // Whether it waits for a condition. That the wait ended may not be told (of a program that was
  // linked statically, where a library called): then it has when the thread is in the user's code.
  bool waits(ThreadIndex thread) const { return waits_[thread.value].has_value(); }
  void goes_on(ThreadIndex thread, Moment now, OrderListener& listener);
  // Any read: what was written atomically is read as if atomically, because the instructions are
  // the same ones.
  void read(ThreadIndex thread, Addr address, Moment now, OrderListener& listener);
  // Whether a read of it may follow an atomic write.
  bool may_be_atomic(Addr address) const { return atomics_[atomics_bit(address)]; }
  void atomic_write(ThreadIndex thread, Addr address, Moment now, OrderListener& listener);
  // A flag (waits.h); whether the thread waits for what it reads.
  void flag_read(ThreadIndex thread, Addr address, bool waits, Moment now, OrderListener& listener);
  void flag_write(ThreadIndex thread, Addr address, Moment now, OrderListener& listener);

 private:
  // What of an object a channel is.
  enum class Part : std::uint8_t { kMain, kReaders, kAtomic, kThread, kOnce, kFlag };
  struct Key {
    std::uint64_t object;
    std::uint64_t part;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (key.object * 0x9e3779b97f4a7c15) ^ key.part;
    }
  };
  struct Barrier {
    std::uint64_t count = 0;
    std::uint64_t arrived = 0;
    std::uint64_t round = 0;
  };
  struct Once {
    std::set<ThreadIndex> callers{};  // before it is done
    bool done = false;
  };
  struct Wait {
    Addr condition{}, mutex{};
  };
  struct At;  // an event with all that goes with it

  // A filter for addresses that may have been written atomically.
  static std::size_t atomics_bit(Addr address) {
    return (address.value * 0x9e3779b97f4a7c15) >> (64 - kAtomicsBits);
  }

  ChannelId channel(std::uint64_t object, std::uint64_t part);
  ChannelId channel(Addr object, Part part) {
    return channel(object.value, static_cast<std::uint64_t>(part));
  }
  void on(const At& at, const ThreadCreate& create);
  void on(const At& at, const ThreadJoin& join);
  void on(const At& at, const Sync& sync);
  void on(const At&, const auto&) {}
  void end_wait(const At& at, Wait wait, bool done);
  void lock(const At& at, Addr object, bool shared);
  void unlock(const At& at, Addr object);
  void barrier(const At& at, const Sync& sync);
  void once(const At& at, const Sync& sync);
  void forget(Range fresh);

  static constexpr unsigned kAtomicsBits = 16;

  LockSets& lock_sets_;
  std::vector<bool> atomics_ = std::vector<bool>(std::size_t{1} << kAtomicsBits);
  std::unordered_map<ThreadId, ThreadIndex> indices_;
  std::vector<LockSetId> held_;
  std::vector<std::optional<Wait>> waits_;  // of each thread
  std::unordered_map<Key, ChannelId, KeyHash> channels_;
  std::unordered_map<Addr, Barrier> barriers_;
  std::map<std::pair<Addr, ThreadIndex>, std::uint64_t> rounds_;  // that threads wait for
  std::map<Addr, Once> onces_;
};

}  // namespace svd
