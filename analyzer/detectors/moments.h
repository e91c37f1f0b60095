// SPDX-License-Identifier: Apache-2.0
//
// A Moment numbers everything that happens in a run: each instruction and each event has one of its
// own, and they follow the total order. A Seq does not tell the events between two instructions
// apart; a Moment does, and still leads back to its place in the file.
//
// Moments start from 1, so that 0 can mean "never".
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "svd/trace/chunk.h"
#include "svd/trace/reader.h"

namespace svd {

using Moment = Ordinal<struct MomentTag>;

// The first moment of each chunk of a trace.
class Moments {
 public:
  explicit Moments(const TraceReader& trace) {
    std::uint64_t events = 0;
    for (const ChunkInfo& chunk : trace.chunks()) {
      first_.push_back(Moment(1 + chunk.first_seq.value + events));
      events += chunk.events;
    }
  }

  Moment first(std::size_t chunk) const { return first_[chunk]; }
  // The chunk that holds the moment, which must not be before the first chunk.
  std::size_t chunk_of(Moment moment) const {
    auto after = std::upper_bound(first_.begin(), first_.end(), moment);
    return static_cast<std::size_t>(after - first_.begin()) - 1;
  }

 private:
  std::vector<Moment> first_;
};

// A visitor of a chunk (chunk.h) that tells another one the moments, too: of each execution the
// first, and of each event. It counts the events, which is what sets moments apart from seqs.
template <class Visitor>
class WithMoments {
 public:
  WithMoments(Visitor& visitor, const Chunk& chunk, Moment first)
      : visitor_(visitor), base_(first - chunk.first_seq.value) {}

  [[gnu::always_inline]] void exec(const Exec& exec) {
    visitor_.exec(exec, base_ + exec.seq.value);
  }
  void event(const Event& event) {
    visitor_.event(event, base_ + event.seq.value);
    base_ += 1;
  }

 private:
  Visitor& visitor_;
  Moment base_;  // the moment of seq 0, if only the events so far had been
};

}  // namespace svd
