// SPDX-License-Identifier: Apache-2.0
//
// A stretch of the run, decoded: what executed, in the total order, as flat arrays. A Chunk is
// filled by TraceReader::decode, is reused from chunk to chunk without new allocations, and points
// into its reader's static tables, which must outlive it.
//
// The walks are templates over a visitor with exec(const Exec&) and event(const Event&); they
// inline into the caller's loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "svd/trace/block.h"
#include "svd/trace/event.h"
#include "svd/trace/types.h"

namespace svd {

// A distinct thing that was executed in the chunk: a block, or a part of one.
struct Shape {
  BlockId id;
  const Block* block = nullptr;
  Part part;
  std::uint32_t accesses = 0;  // slots of the part
  std::uint32_t ranges = 0;    // those of them that carry a length
};

// Consecutive executions of one thread.
struct Run {
  ThreadId thread{};
  Seq first_seq{};
  std::uint32_t first_exec = 0;
  std::uint32_t exec_count = 0;
  std::uint32_t first_access = 0;
  std::uint32_t first_range = 0;
};

// One memory access of one execution.
struct MemoryAccess {
  Seq seq{};
  Addr address{};
  std::uint64_t size = 0;
  std::uint64_t value = 0;  // meaningful when has_value
  const Slot* slot = nullptr;
  bool has_value = false;
};

// One execution of a block: a view into the chunk.
struct Exec {
  Seq seq{};  // of its first step
  ThreadId thread{};
  const Shape* shape = nullptr;
  const std::uint64_t* addresses = nullptr;
  const std::uint64_t* lengths = nullptr;
  const std::uint64_t* values = nullptr;  // null: the trace has none, or they were not decoded

  Seq end() const { return seq + shape->part.steps(); }
  const Block& block() const { return *shape->block; }

  // Calls f(const MemoryAccess&) for each access that happened, in order.
  template <class F>
  void accesses(F&& f) const {
    const Part& part = shape->part;
    const std::uint64_t* length = lengths;
    for (std::uint32_t i = 0; i < shape->accesses; ++i) {
      const Slot& slot = shape->block->slots[part.first_slot + i];
      std::uint64_t size = slot.is_range() ? *length++ : slot.size;
      if (addresses[i] == kAbsent.value) continue;
      bool has_value = values != nullptr && slot.has_value();
      f(MemoryAccess{seq + static_cast<std::uint64_t>(slot.instruction - part.first),
                     Addr(addresses[i]), size, has_value ? values[i] : 0, &slot, has_value});
    }
  }
};

// Which parts of a chunk to decode. Executions and thread runs always are.
struct Columns {
  bool addresses = true;
  bool values = true;  // implies addresses
  EventKinds events = kAllEvents;
};

struct Chunk {
  Chunk() = default;
  Chunk(Chunk&&) = default;  // not copied: events point into event_bytes
  Chunk& operator=(Chunk&&) = default;

  Seq first_seq{};
  std::uint64_t steps = 0;
  bool has_addresses = false;
  bool has_values = false;
  std::vector<Shape> shapes{};
  std::vector<Run> runs{};
  std::vector<std::uint32_t> execs{};  // index into shapes
  std::vector<std::uint64_t>
      addresses{};  // one for each slot of each execution; kAbsent where the access did not happen
  std::vector<std::uint64_t> lengths{};  // one for each range slot
  std::vector<std::uint64_t> values{};   // parallel to addresses; 0 where there is none
  std::vector<Event> events{};
  std::vector<std::uint8_t> event_bytes{};  // what strings in events point into

  Seq end_seq() const { return first_seq + steps; }

  // Everything in the total order.
  template <class Visitor>
  void walk(Visitor&& visitor) const {
    std::size_t next_event = 0;
    for (const Run& run : runs) walk_run(run, next_event, visitor);
    while (next_event < events.size()) visitor.event(events[next_event++]);
  }

  // The same from `from` on: first the execution that contains it, with the events at and after it.
  template <class Visitor>
  void walk_from(Seq from, Visitor&& visitor) const {
    struct Skip {
      Seq from;
      Visitor& inner;
      void exec(const Exec& e) {
        if (e.end() > from) inner.exec(e);
      }
      void event(const Event& e) {
        if (e.seq >= from) inner.event(e);
      }
    } skip{from, visitor};
    auto run = std::upper_bound(runs.begin(), runs.end(), from,
                                [](Seq seq, const Run& r) { return seq < r.first_seq; });
    if (run != runs.begin()) --run;
    std::uint32_t first_exec =
        run == runs.end() ? static_cast<std::uint32_t>(execs.size()) : run->first_exec;
    auto event = std::lower_bound(events.begin(), events.end(), first_exec,
                                  [](const Event& e, std::uint32_t exec) { return e.exec < exec; });
    auto next_event = static_cast<std::size_t>(event - events.begin());
    for (; run != runs.end(); ++run) walk_run(*run, next_event, skip);
    while (next_event < events.size()) skip.event(events[next_event++]);
  }

  // Executions and events of one thread.
  template <class Visitor>
  void walk_thread(ThreadId thread, Visitor&& visitor) const {
    struct Only {
      ThreadId thread;
      Visitor& inner;
      void exec(const Exec& e) { inner.exec(e); }
      void event(const Event& e) {
        if (e.thread == thread) inner.event(e);
      }
    } only{thread, visitor};
    std::size_t next_event = 0;
    for (const Run& run : runs) {
      if (run.thread == thread) {
        while (next_event < events.size() && events[next_event].exec < run.first_exec)
          only.event(events[next_event++]);
        walk_run(run, next_event, only);
      }
    }
    while (next_event < events.size()) only.event(events[next_event++]);
  }

  // Everything, last first.
  template <class Visitor>
  void walk_back(Visitor&& visitor) const {
    auto next_event = events.size();
    Seq seq = end_seq();
    std::size_t access = addresses.size();
    std::size_t range = lengths.size();
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      for (std::uint32_t i = run->first_exec + run->exec_count; i > run->first_exec;) {
        while (next_event > 0 && events[next_event - 1].exec >= i)
          visitor.event(events[--next_event]);
        std::uint32_t until = next_event > 0
                                  ? std::max(run->first_exec, events[next_event - 1].exec)
                                  : run->first_exec;
        while (i > until) {
          const Shape& shape = shapes[execs[--i]];
          seq = seq - shape.part.steps();
          if (has_addresses) access -= shape.accesses, range -= shape.ranges;
          visitor.exec(view(seq, run->thread, shape, access, range));
        }
      }
    }
    while (next_event > 0) visitor.event(events[--next_event]);
  }

 private:
  Exec view(Seq seq, ThreadId thread, const Shape& shape, std::size_t access,
            std::size_t range) const {
    return Exec{seq,
                thread,
                &shape,
                has_addresses ? addresses.data() + access : nullptr,
                has_addresses ? lengths.data() + range : nullptr,
                has_values ? values.data() + access : nullptr};
  }

  template <class Visitor>
  void walk_run(const Run& run, std::size_t& next_event, Visitor&& visitor) const {
    Seq seq = run.first_seq;
    const std::uint64_t* address = has_addresses ? addresses.data() + run.first_access : nullptr;
    const std::uint64_t* length = has_addresses ? lengths.data() + run.first_range : nullptr;
    const std::uint64_t* value = has_values ? values.data() + run.first_access : nullptr;
    const Shape* all = shapes.data();
    const std::uint32_t* exec = execs.data() + run.first_exec;
    const std::uint32_t* end = exec + run.exec_count;
    while (exec != end) {
      auto at = static_cast<std::uint32_t>(exec - execs.data());
      while (next_event < events.size() && events[next_event].exec <= at)
        visitor.event(events[next_event++]);
      const std::uint32_t* until = end;
      if (next_event < events.size()) until = std::min(end, execs.data() + events[next_event].exec);
      for (; exec != until; ++exec) {
        const Shape& shape = all[*exec];
        visitor.exec(Exec{seq, run.thread, &shape, address, length, value});
        seq += shape.part.steps();
        if (address != nullptr) address += shape.accesses, length += shape.ranges;
        if (value != nullptr) value += shape.accesses;
      }
    }
  }
};

}  // namespace svd
