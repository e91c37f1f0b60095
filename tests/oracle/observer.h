// SPDX-License-Identifier: Apache-2.0
//
// What an instruction really reads and writes, found by changing its inputs one at a time: a lane
// is written when it is seen to change, and read when changing it changes another lane, memory,
// whether the instruction faults, or what is written to the lane itself.
//
// Only what the tried values show is seen: an input that matters for none of them is missed.
#pragma once

#include <bitset>

#include "decode/effects.h"
#include "oracle/experiment.h"

namespace svd::test {

using Bytes = std::bitset<kWindows * kWindowBytes>;

struct Observation {
  std::string left_out{};
  std::array<Lanes, kRegCount> reads{}, writes{};
  Bytes memory_reads{}, memory_writes{};
  bool roams = false;  // the bytes read are of many places: their sizes say nothing
  std::uint64_t runs = 0;
};

// `claimed` says where to look closely; elsewhere inputs are changed together first.
Observation observe(Machine& machine, const Experiment& experiment, const InstrEffects& claimed);

}  // namespace svd::test
