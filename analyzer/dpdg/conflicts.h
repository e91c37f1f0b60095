// SPDX-License-Identifier: Apache-2.0
//
// How many dependences there are between threads, before and after what the slicing paper (Tallam,
// Tian and Gupta, Table 3) leaves out of them. A dependence is a pair of accesses by two threads to
// common bytes of one lifetime, the later of which
// - reads what the earlier wrote there (RAW; none is ever left out),
// - writes after the earlier one wrote (WAW), or read (WAR).
// What the kernel does for a system call are accesses of the thread that made it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dpdg/sequencers.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

struct ConflictCounts {
  struct Row {
    std::uint64_t all = 0;
    std::uint64_t adjacent = 0;   // after transitivity: at some byte there is no write between the
                                  // two, and no later read of the earlier one's thread (Netzer)
    std::uint64_t unordered = 0;  // of them: by sequencers
  };
  Row raw, waw, war;

  Row total() const {
    return {raw.all + waw.all + war.all, raw.adjacent + waw.adjacent + war.adjacent,
            raw.unordered + waw.unordered + war.unordered};
  }
};

// `faults`: of ControlIndex.
ConflictCounts count_conflicts(const TraceReader& trace, std::span<const Seq> faults,
                               const Sequencers& sequencers, Diagnostics& diagnostics,
                               const ProgressFunction& progress = no_progress);

// A dependence between threads that orders two accesses.
struct OrderPair {
  bool after_write = false;  // write after write; else write after read
  Seq earlier{};
  ThreadId earlier_thread{};
  Seq later{};
  ThreadId later_thread{};
  Addr address{};  // of the first common byte
  friend bool operator==(const OrderPair&, const OrderPair&) = default;
};

// All of which the later access is by an instruction of [first, end): those that are not adjacent,
// too.
std::vector<OrderPair> restore_conflicts(const TraceReader& trace, std::span<const Seq> faults,
                                         Seq first, Seq end, Diagnostics& diagnostics);

}  // namespace svd
