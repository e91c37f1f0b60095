// SPDX-License-Identifier: Apache-2.0
//
// What is ordered between threads by their creation and end, conditions, barriers and semaphores,
// but not by mutual exclusion: two accesses that only locks keep apart could have come in either
// order. A semaphore is a lock for a thread that gives back what it took before; who posts what it
// has not taken tells another thread something. Built from the events that order; then any pair can
// be asked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "svd/trace/event.h"

namespace svd {

class ThreadOrder {
 public:
  // Whether it is one of the events that order.
  static bool matters(const Event& event);
  static constexpr auto kEvents =
      EventKinds::of<ThreadCreate, ThreadStart, ThreadExit, ThreadJoin, Sync>();
  // Of these, in the order of the run. Without semaphores nothing that they say is believed: which
  // post a wait has answered is not known when there were several.
  static ThreadOrder of(std::span<const Event> events, bool semaphores);

  // Whether what `first` did up to and with seq `a` must come before what `second` did at seq `b`.
  bool before(ThreadId first, Seq a, ThreadId second, Seq b) const;

 private:
  // A thread's own number.
  std::size_t number_of(ThreadId thread) const;

  struct Checkpoint {
    Seq from{};
    std::vector<std::uint64_t> clock;  // by number: up to which seq (exclusive) it is known
  };
  std::vector<ThreadId> threads_;                // ascending; in the order of their numbers
  std::vector<std::vector<Checkpoint>> points_;  // by number
};

}  // namespace svd
