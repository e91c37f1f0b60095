// SPDX-License-Identifier: Apache-2.0
//
// Shows the selected part of a trace in the total order, one instruction or event at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "analyze/selection.h"
#include "svd/trace/chunk.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd::cli {

// One dynamic instruction or statement.
struct Step {
  Seq seq;
  ThreadId thread;
  const Block* block = nullptr;
  std::uint16_t instruction = 0;
  std::span<const MemoryAccess> accesses;

  bool abstract() const { return block->abstract(); }
  Pc pc() const { return abstract() ? Pc() : block->instructions[instruction].pc; }
  const Statement& statement(const TraceReader& trace) const {
    return trace.statements()[block->statements[instruction].value];
  }
};

// What is shown, in the total order.
class Listing {
 public:
  virtual ~Listing() = default;
  virtual void step(const Step& step) = 0;
  virtual void event(const Event& event) = 0;
};

struct Bounds {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();  // the first so many
  std::uint64_t tail = std::numeric_limits<std::uint64_t>::max();   // the last so many
};

// Shows what is selected. `at` hears of the position after each chunk and returns false to stop.
// Chunks that cannot be decoded go to `diagnostics`.
void list(const TraceReader& trace, const Selection& selection, const Bounds& bounds,
          Listing& listing, Diagnostics& diagnostics, const std::function<bool(Seq)>& at);

}  // namespace svd::cli
