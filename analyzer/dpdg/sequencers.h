// SPDX-License-Identifier: Apache-2.0
//
// The slicing paper's happens-before filter (Tallam, Tian and Gupta, §3.2): a sequencer, a global
// time stamp, stands wherever a thread executes a synchronisation operation, and every access lies
// in the interval between two sequencers of its thread. Two accesses of two threads whose intervals
// do not overlap are ordered. Synchronisation operations are those of the trace's events, where
// they take effect: what waits at its end, what gives up something (conditions, barriers) at its
// beginning, too; creation, start, exit and join of threads; and atomic accesses, each an interval
// of its own. Built from one scan; then any pair can be asked.
//
// It orders less strictly than clocks would: operations on different objects order, too.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

class Sequencers {
 public:
  static Sequencers of(const TraceReader& trace, Diagnostics& diagnostics);

  // Whether what `first` did at seq `a` is ordered before what `second` did at seq `b`.
  bool ordered(ThreadId first, Seq a, ThreadId second, Seq b) const;

 private:
  struct Point {
    std::uint64_t place = 0;  // 2 seq: before the instruction; 2 seq + 1: at it
    std::uint64_t time = 0;
  };
  std::unordered_map<ThreadId, std::vector<Point>> points_;
};

}  // namespace svd
