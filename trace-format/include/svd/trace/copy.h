// SPDX-License-Identifier: Apache-2.0
//
// Writes what can be read of a trace as a new one. Ids of modules, stacks, statements, blocks and
// threads stay the same; a block whose definition was lost keeps its place as one empty instruction
// that nothing executes. Where something is missing a Gap event stands, and instructions after it
// are numbered on without a hole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "svd/trace/reader.h"
#include "svd/trace/result.h"
#include "svd/trace/writer.h"

namespace svd {

// What the index knows to be missing from the copy. Chunks of which not even the head was readable
// are counted by their instructions alone, where others tell them.
struct CopyLoss {
  std::uint64_t chunks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
  std::uint64_t events = 0;
  std::uint64_t blocks = 0;  // definitions
  bool end = false;          // the input stops before the run does

  bool any() const { return chunks + instructions + events + blocks > 0 || end; }
};

// What of the run is copied. Where executions of a thread are left out a Gap of that thread stands,
// before what is executed next or at the end of the run, so that how far things were apart is still
// known; what the kernel did for them, and signals that came upon them, are left out with them.
// Other events are always copied.
struct CopyFilter {
  std::function<bool(const Exec&)> exec{};  // empty: everything
  std::string reason{};                     // why, for the gaps
};

// `to` was created with from.process() and is still empty; finish() is the caller's. `progress`
// hears of instructions. Fails only when writing does.
Result<CopyLoss> copy_trace(const TraceReader& from, TraceWriter& to,
                            const ProgressFunction& progress = no_progress,
                            const CopyFilter& filter = {});

}  // namespace svd
