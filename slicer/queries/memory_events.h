// SPDX-License-Identifier: Apache-2.0
//
// What happened to a place in memory before or after a moment of the run: accesses by instructions
// and by the kernel, and that it became new. A moment is a number of an instruction, and means
// right before it: what its system call did comes after it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "slicer/queries/run_view.h"

namespace svd {

struct MemoryEvent {
  enum class Kind : std::uint8_t { kRead, kWrite, kFresh } kind{};
  bool kernel = false;  // for the last instruction of the thread before seq
  Seq seq{};            // of the instruction; of what is no instruction's, the next one
  ThreadId thread{};
  InstrId id{};                          // of an instruction's access
  Range bytes{};                         // all of the access
  std::optional<std::uint64_t> value{};  // of an instruction's access, where it is known
  // What the kernel wrote, or the beginning of it: good while the event is being told.
  std::span<const std::uint8_t> data{};

  // A byte of the memory after the event, where it is known.
  std::optional<std::uint8_t> byte(Addr address) const;
};

// An event of the trace: its chunk, and its number there.
struct EventPlace {
  std::size_t chunk = 0;
  std::size_t event = 0;
};

enum class Interest : std::uint8_t { kAll, kChanges };

// Calls f with each event that concerns some of the bytes until it returns false, from the last
// one before `before` backward, or from the first one after the instruction `after` forward.
using OnMemoryEvent = std::function<bool(const MemoryEvent&)>;
void look_back(RunView& run, Range bytes, Seq before, Interest interest, const OnMemoryEvent& f);
void look_back(RunView& run, Range bytes, EventPlace before, Interest interest,
               const OnMemoryEvent& f);
void look_ahead(RunView& run, Range bytes, Seq after, Interest interest, const OnMemoryEvent& f);

// Who wrote these bytes: nobody (nothing in the trace did, or the memory was new), or `event`.
struct Writer {
  Range bytes{};
  std::optional<MemoryEvent> event{};
};

// Of each byte, those with one writer together, by address.
std::vector<Writer> writers(RunView& run, Range bytes, Seq before);
std::vector<Writer> writers(RunView& run, Range bytes, EventPlace before);

// The same of who writes them next.
std::vector<Writer> next_writers(RunView& run, Range bytes, Seq after);

// The instruction that an event is put down to.
std::optional<Seq> instruction_of(RunView& run, const MemoryEvent& event);

}  // namespace svd
