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
#include <unordered_map>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

class ThreadOrder {
 public:
  // The events that order, the last one first.
  static std::vector<Event> events(const TraceReader& trace, Diagnostics& diagnostics);
  // Of these. Without semaphores nothing that they say is believed: which post a wait has answered
  // is not known when there were several.
  static ThreadOrder of(std::span<const Event> backward, bool semaphores);

  // Whether what `first` did up to and with seq `a` must come before what `second` did at seq `b`.
  bool before(ThreadId first, Seq a, ThreadId second, Seq b) const;

 private:
  // By thread: up to which seq (exclusive) this thread has seen it.
  using Clock = std::unordered_map<std::uint32_t, std::uint64_t>;
  struct Checkpoint {
    Seq from{};
    Clock clock;
  };
  std::unordered_map<std::uint32_t, std::vector<Checkpoint>> threads_;
};

}  // namespace svd
