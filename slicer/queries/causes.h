// SPDX-License-Identifier: Apache-2.0
//
// What one instruction of the run directly follows from: the arcs of the dependence graph that
// leave it (dpdg/dependences.h), found without the graph. And what other threads did at the same
// places, so close that it could have come in the other order.
#pragma once

#include <optional>
#include <vector>

#include "slicer/queries/memory_events.h"

namespace svd {

struct RegisterCause {
  Reg reg{};
  UseRole role = UseRole::kValue;
  std::optional<Seq> writer{};  // nothing: it came with the thread
};

struct MemoryCause {
  Range bytes{};
  Role role = Role::kValue;
  bool kernel = false;                 // its system call read them
  std::optional<MemoryEvent> write{};  // nothing: nobody in the trace wrote them
  std::optional<Seq> writer{};         // the instruction of that
};

// An access of another thread that is next to one of the instruction's.
struct RaceCause {
  enum class Kind : std::uint8_t {
    kWriteBefore,  // it wrote what this instruction then wrote
    kWriteAfter,   // it wrote what this instruction had read
  } kind{};
  Range bytes{};
  MemoryEvent write{};
  Seq other{};
};

struct Causes {
  std::vector<RegisterCause> registers{};
  std::vector<MemoryCause> memory{};
  std::optional<Seq> decision{};  // the branch or call that decided that it ran
  std::vector<RaceCause> races{};
};

Causes causes_of(RunView& run, const Found& found);

// What the kernel did for the instruction: events of its thread up to its next instruction.
std::vector<EventPlace> kernel_events(RunView& run, const Found& found);

}  // namespace svd
