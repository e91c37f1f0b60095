// SPDX-License-Identifier: Apache-2.0
//
// What is ordered between threads by their creation and end, conditions and barriers, but not by
// mutual exclusion (locks, semaphores): two accesses that only locks keep apart could have come in
// either order. Built from one scan of events; then any pair can be asked.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

class ThreadOrder {
 public:
  static ThreadOrder of(const TraceReader& trace, Diagnostics& diagnostics);

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
