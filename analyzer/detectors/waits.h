// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation that a program makes of plain memory: a thread reads a flag or a counter in a
// loop until another thread has written it (AVIO, Figure 2; Tian, Nagarajan, Gupta and Tallam,
// 2008; Jannesari and Tichy, 2010).
//
//     thread 1: data = 1   flag = 1
//     thread 2:                       while (!flag) sched_yield();   use(data)
//
// Which loops only wait cfg/wait_loops.h says, as far as the code shows it. Here one walk of the
// run finds those whose calls had no effects either (nothing stored outside of their frames, no
// synchronisation, no system call but to yield or sleep), and what memory they waited for: flags.
// Flags are synchronisation, as atomic memory is: accesses to them are no data races, a write
// releases, a read acquires. The read of such a loop had to wait for the write that it saw.
//
// Of an abstract trace a statement that is controlled by itself, writes nothing and controls no
// other one is such a loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "detectors/detector.h"
#include "detectors/sites.h"
#include "detectors/two_phase_sharing.h"

namespace svd {

class Waits {
 public:
  Waits() = default;
  // Walks the run if it executed such loops in the user's code; `companion` walks along.
  static std::optional<Waits> of(const Preparation& run, Detector& companion);

  bool any() const { return !reads_.empty(); }
  std::size_t places() const {
    return static_cast<std::size_t>(std::count(reads_.begin(), reads_.end(), true));
  }
  // Whether some of it is a flag, in the lifetimes that fresh() has told.
  bool flag(Addr address, std::uint64_t size) const { return flags_.any(address, size); }
  // Whether it is a read by which a loop waits.
  bool waits(SiteId site) const { return reads_[site.value]; }
  void fresh(Addr address, std::uint64_t size) { flags_.fresh(address, size); }

 private:
  SharedBytes flags_;
  std::vector<bool> reads_;  // by site; empty: there are none
};

}  // namespace svd
