// SPDX-License-Identifier: Apache-2.0
//
// What is ordered between threads by their creation and end, conditions and barriers, but not by
// mutual exclusion (locks, semaphores): two accesses that only locks keep apart could have come in
// either order. Built from the events that order; then any pair can be asked.
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
  // Whether the event is one of those.
  static bool orders(const Event& event);
  static ThreadOrder of(const TraceReader& trace, Diagnostics& diagnostics);
  // Of all of them, the last one first.
  static ThreadOrder of(std::span<const Event> backward);

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
