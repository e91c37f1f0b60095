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

}  // namespace svd
