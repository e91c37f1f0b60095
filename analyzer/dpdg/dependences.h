// SPDX-License-Identifier: Apache-2.0
//
// The arcs of the dynamic program dependence graph, one after the other, in the order of the run.
// Nothing is stored but the last accesses to each place: a pass takes the arcs that it needs as
// they come. Every arc leads from an instance back to one that it follows from.
//
// - kRegister, kMemory: of each part that is read, its last writer in the total order (DESIGN §5,
//   RAW); byte-exact. kMemory is told apart from kRemote, where the writer is another thread.
// - kControl: what decided that it ran.
// - kWriteAfterWrite, kWriteAfterRead: between threads, adjacent accesses only (Netzer).
//
// The stack pointer's own arcs are left out, and a register that was saved and restored by the same
// activation keeps its writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dpdg/arc.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "dpdg/last_accesses.h"
#include "svd/trace/chunk.h"
#include "svd/trace/result.h"

namespace svd {

// Sink: void operator()(const Arc&).
template <class Sink>
class Dependences {
 public:
  Dependences(const CodeTable& code, ControlTracker tracker, Sink sink)
      : code_(code), tracker_(std::move(tracker)), sink_(std::move(sink)) {}

  void event(const Event& event) {
    tracker_.event(event);
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      if (kernel->access == Access::kWrite)
        memory_.overwrite(Mark(event.seq - 1, index(event.thread)), kernel->address, kernel->size);
    } else if (const auto* alloc = std::get_if<Allocation>(&event.body)) {
      if (alloc->function != AllocFn::kRealloc) memory_.forget(alloc->address, alloc->size);
    } else if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      std::uint32_t child = index(create->child);
      cells_[child] = cells_[index(event.thread)];
    }
  }

  void exec(const Exec& exec) {
    const CodeBlock& block = code_.block(exec.shape->id);
    const Part& part = exec.shape->part;
    segments_.clear();
    tracker_.exec(
        exec, [this](std::uint16_t first, Seq parent) { segments_.emplace_back(first, parent); });
    if (part.end > block.steps.size()) return;
    std::uint32_t thread = index(exec.thread);
    const std::uint64_t* length = exec.lengths;
    std::size_t segment = 0;
    for (std::uint16_t i = part.first; i < part.end; ++i) {
      while (segment + 1 < segments_.size() && segments_[segment + 1].first <= i) ++segment;
      step(exec, block.steps[i], exec.seq + static_cast<std::uint64_t>(i - part.first),
           segments_[segment].second, thread, length);
    }
  }

  Sink& sink() { return sink_; }
  std::uint64_t memory_bytes() const { return memory_.memory_bytes() + saved_.memory_bytes(); }

 private:
  // Threads by when they were met.
  std::uint32_t index(ThreadId id) {
    if (id == recent_id_ && recent_ < cells_.size()) return recent_;
    auto [entry, fresh] = index_.try_emplace(id.value, static_cast<std::uint32_t>(cells_.size()));
    if (fresh) cells_.emplace_back(code_.cell_count(), kNoParent);
    SVD_CHECK(entry->second < Mark::kMostThreads);
    recent_id_ = id;
    return recent_ = entry->second;
  }

  void step(const Exec& exec, const Step& step, Seq seq, Seq parent, std::uint32_t thread,
            const std::uint64_t*& length) {
    Instance me{seq, step.id, exec.thread};
    if (parent != kNoParent) sink_({ArcKind::kControl, me, parent, {}, 0});
    std::vector<Seq>& cells = cells_[thread];
    for (CellUse use : code_.uses(step))
      if (cells[use.cell] != kNoParent) sink_({ArcKind::kRegister, me, cells[use.cell], {}, 0});
    Addr last_address{};
    const Part& part = exec.shape->part;
    const Block& block = *exec.shape->block;
    if (exec.addresses != nullptr) {
      auto through_memory = [&](ArcKind kind, Mark from, Addr at, std::uint64_t size) {
        sink_({kind, me, from.seq(), at, size});
      };
      std::uint16_t end = std::min(step.end_slot, part.end_slot);
      for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
        const Slot& slot = block.slots[s];
        std::uint64_t size = slot.is_range() ? *length++ : slot.size;
        Addr address(exec.addresses[s - part.first_slot]);
        if (address == kAbsent || size == 0) continue;
        last_address = address;
        if (slot.write)
          memory_.write(Mark(seq, thread), address, size, through_memory);
        else if (step.flow != Flow::kReturn && !step.restores)
          memory_.read(Mark(seq, thread), address, size, through_memory);
      }
    }
    // Kept plus 1, which makes 0 of kNoParent.
    if (step.saves) saved_.set(last_address, 8, cells[code_.cells_of(step.saved).front()] + 1);
    for (CellDef def : code_.defs(step)) {
      bool restored = step.restores && code_.reg_of(def.cell) == step.saved;
      cells[def.cell] = def.stack ? kNoParent : restored ? saved_.at(last_address) - 1 : seq;
    }
  }

  const CodeTable& code_;
  ControlTracker tracker_;
  Sink sink_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;  // of threads by id
  ThreadId recent_id_{};
  std::uint32_t recent_ = 0;
  std::vector<std::vector<Seq>> cells_;  // by thread: the last writer of each cell
  LastAccesses memory_;
  ByteShadow<Seq> saved_;  // at the place of a saved register: the register's writer
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
};

}  // namespace svd
