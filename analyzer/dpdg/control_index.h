// SPDX-License-Identifier: Apache-2.0
//
// Control parents of any chunk at random: one pass over the run keeps the state of ControlTracker
// at the start of each chunk, from which a chunk's parents are made again whenever they are needed.
// The same pass finds which instructions always restore saved registers, which instances faulted,
// the events that order threads, and where instructions are missing. Const methods may be called
// from several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "dpdg/left_out.h"
#include "dpdg/thread_order.h"
#include "svd/trace/reader.h"

namespace svd {

// Control parents of a chunk's executions.
struct ChunkControl {
  struct Segment {
    std::uint16_t first = 0;  // step of the block
    Seq parent{};
  };
  std::vector<Segment> segments;    // where the parent is another one than before
  std::vector<std::uint32_t> last;  // the last one that has begun, before and after each execution

  // The first one may have begun earlier, or be over.
  std::span<const Segment> of(std::size_t exec) const {
    return std::span(segments).subspan(last[exec], last[exec + 1] - last[exec] + 1);
  }
};

class ControlIndex {
 public:
  // Marks the restores in `code`. Chunks that cannot be decoded are skipped and told.
  static ControlIndex of(const TraceReader& trace, CodeTable& code, const ControlFlow& flow,
                         Diagnostics& diagnostics, const ProgressFunction& progress = no_progress);

  // `chunk` is the chunk of that index, with addresses and the events of ControlTracker.
  void parents(std::size_t index, const Chunk& chunk, ChunkControl& out) const;

  // Instances that a fault kept from having an effect, ascending.
  const std::vector<Seq>& faults() const { return faults_; }
  bool faulted(Seq seq) const { return std::binary_search(faults_.begin(), faults_.end(), seq); }

  // Those of which ThreadOrder is made.
  std::span<const Event> ordering() const { return ordering_; }
  const LeftOut& left_out() const { return left_out_; }

  struct Point {
    Seq seq{};
    ThreadId thread{};
    std::size_t most = kAllCalls;
  };
  // Active calls of the thread when control has come to each point and it has done nothing yet.
  // The points ascend: a chunk is decoded once for all that it holds.
  std::vector<CallStack> call_stacks(const TraceReader& trace, std::span<const Point> points) const;

 private:
  std::vector<ControlTracker> at_chunk_;
  std::vector<Seq> faults_;
  std::vector<Event> ordering_;
  LeftOut left_out_;
};

}  // namespace svd
