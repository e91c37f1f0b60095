// SPDX-License-Identifier: Apache-2.0
//
// The arcs of the dynamic program dependence graph, in the order of the run; those of one execution
// of a block come together. Nothing is stored but the last accesses to each place: a pass takes the
// arcs that it needs as they come. Every arc leads from an instance back to one that it follows
// from.
//
// - kRegister, kMemory: of each part that is read, its last writer in the total order (DESIGN §5,
//   RAW); byte-exact. kMemory is told apart from kRemote, where the writer is another thread.
// - kChannel: of each byte of memory that came out of a file, pipe or socket and is read, the
// system
//   call that put it there (channels.h); beside the arc to the one that took it out.
// - kControl: what decided that it ran.
// - kWriteAfterWrite, kWriteAfterRead: between threads, adjacent accesses only (Netzer).
//
// The stack pointer's own arcs are left out, and a register that was saved and restored by the same
// activation keeps its writer. An instruction that faulted defines nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "dpdg/arc.h"
#include "dpdg/block_plan.h"
#include "dpdg/channels.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "dpdg/last_accesses.h"
#include "dpdg/lifetimes.h"
#include "dpdg/program_model.h"
#include "dpdg/register_writers.h"
#include "dpdg/system_calls.h"
#include "svd/trace/chunk.h"
#include "svd/trace/result.h"

namespace svd {

// Sink: void operator()(const Arc&). One that only counts says so by void count(ArcKind, n), and is
// told of many at once where each is not worth the time.
template <class Sink>
concept CountsArcs = requires(Sink sink) {
  sink.count(ArcKind{}, std::uint64_t{});
};

template <class Sink>
class Dependences {
 public:
  Dependences(const TraceReader& trace, const ProgramModel& model, Sink sink)
      : code_(model.code),
        tracker_(model.code, model.flow),
        faults_(model.control.faults()),
        sink_(std::move(sink)),
        plans_(model.code) {
    tracker_.set_statements(trace.statements());
  }

  void event(const Event& event) {
    tracker_.event(event);
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      kernel_access(*kernel, index(event.thread));
    } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
      system_call(call->number, index(event.thread));
    } else if (std::holds_alternative<Transfer>(event.body)) {
      std::uint32_t thread = index(event.thread);
      bool ran = !(last_[thread] == Instance{});
      carried_.event(event, ran ? Mark(last_[thread].seq, thread) : Mark());
    }
    if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      std::uint32_t child = index(create->child);
      cells_[child] = cells_[index(event.thread)];
    } else if (auto fresh = fresh_memory(event)) {
      const auto* made = std::get_if<Allocation>(&event.body);
      if (made != nullptr && made->function == AllocFn::kRealloc) return;  // keeps what it holds
      memory_.forget(fresh->address, fresh->size);
      carried_.forget(fresh->address, fresh->size);
    }
  }

  void exec(const Exec& exec) {
    const Part& part = exec.shape->part;
    if (part.end > code_.block(exec.shape->id).steps.size()) {
      tracker_.exec(exec, [](std::uint16_t, Seq) {});
      return;
    }
    decide(exec);
    std::uint32_t thread = index(exec.thread);
    if (faults_.empty() || faults_.front() >= exec.end())
      follow(exec, thread);
    else
      follow_fault(exec, thread);
    last_[thread] = instance(exec, static_cast<std::uint16_t>(part.steps() - 1));
  }

  Sink& sink() { return sink_; }
  std::uint64_t memory_bytes() const { return memory_.memory_bytes() + registers_.memory_bytes(); }

 private:
  // Threads by when they were met.
  std::uint32_t index(ThreadId id) {
    if (id == recent_id_ && recent_ < cells_.size()) return recent_;
    auto [entry, fresh] = index_.try_emplace(id.value, static_cast<std::uint32_t>(cells_.size()));
    if (fresh) cells_.emplace_back(code_.cell_count(), kNoParent), last_.emplace_back();
    SVD_CHECK(entry->second < Mark::kMostThreads);
    recent_id_ = id;
    return recent_ = entry->second;
  }

  // The instance of a step, counted from the first of the execution.
  Instance instance(const Exec& exec, std::uint16_t step) const {
    const Step& of = code_.block(exec.shape->id).steps[exec.shape->part.first + step];
    return {exec.seq + step, of.id, exec.thread};
  }

  // The kernel's accesses are those of the instruction that called it. Others may have run since:
  // nothing is ordered behind what is later than itself.
  void kernel_access(const KernelAccess& kernel, std::uint32_t thread) {
    const Instance& me = last_[thread];
    if (kernel.access == Access::kWrite) carried_.forget(kernel.address, kernel.size);
    if (me == Instance{}) {
      if (kernel.access == Access::kWrite) memory_.forget(kernel.address, kernel.size);
      return;
    }
    auto follow = [&](ArcKind kind, Mark from, Addr at, std::uint64_t bytes) {
      bool order = kind == ArcKind::kWriteAfterWrite || kind == ArcKind::kWriteAfterRead;
      if (!order || from.seq() < me.seq) sink_({kind, me, from.seq(), at, bytes});
    };
    Mark mark(me.seq, thread);
    if (kernel.access == Access::kWrite)
      memory_.write(mark, kernel.address, kernel.size, follow);
    else
      memory_.read(mark, kernel.address, kernel.size, follow);
    if (kernel.access == Access::kRead) follow_carried(kernel.address, kernel.size, follow);
  }

  template <class F>
  void follow_carried(Addr address, std::uint64_t size, F&& follow) const {
    carried_.visit(address, size, [&](Addr at, unsigned length, Mark from) {
      follow(ArcKind::kChannel, from, at, length);
    });
  }

  // The instruction has run, but what holds its arguments it leaves alone.
  void system_call(std::uint32_t number, std::uint32_t thread) {
    const Instance& me = last_[thread];
    if (me == Instance{}) return;
    for (Reg reg : argument_registers(number))
      for (Cell cell : code_.cells_of(reg))
        if (Seq writer = cells_[thread][cell]; writer != kNoParent)
          sink_({ArcKind::kRegister, me, writer, {}, 0});
  }

  void decide(const Exec& exec) {
    std::uint16_t from = exec.shape->part.first;
    Seq parent = kNoParent;
    auto until = [&](std::uint16_t end) {
      if (parent == kNoParent) return;
      if constexpr (CountsArcs<Sink>) {
        sink_.count(ArcKind::kControl, static_cast<std::uint64_t>(end - from));
      } else {
        for (std::uint16_t i = from; i < end; ++i) {
          auto step = static_cast<std::uint16_t>(i - exec.shape->part.first);
          sink_({ArcKind::kControl, instance(exec, step), parent, {}, 0});
        }
      }
    };
    tracker_.exec(exec, [&](std::uint16_t first, Seq next) {
      until(first);
      from = first;
      parent = next;
    });
    until(exec.shape->part.end);
  }

  void follow(const Exec& exec, std::uint32_t thread) {
    const std::uint64_t* length = exec.lengths;
    for (const BlockPlans::Section& section : plans_.of(*exec.shape)) {
      follow_registers(exec, section, cells_[thread]);
      follow_memory(exec, section, thread, length);
      registers_.define(plans_, section, exec, cells_[thread]);
    }
  }

  // What the last step would have defined stays as it was.
  void follow_fault(const Exec& exec, std::uint32_t thread) {
    faults_ = faults_.subspan(1);
    const std::vector<Slot>& slots = exec.block().slots;
    Shape done = *exec.shape;
    const Step& last = code_.block(done.id).steps[--done.part.end];
    done.part.end_slot = std::max(done.part.first_slot, last.first_slot);
    follow({exec.seq, exec.thread, &done, exec.addresses, exec.lengths}, thread);

    Shape attempt = *exec.shape;
    attempt.part.first = done.part.end;
    attempt.part.first_slot = done.part.end_slot;
    std::uint16_t& end = attempt.part.end_slot;
    while (end > attempt.part.first_slot && slots[end - 1].write) --end;
    const std::uint64_t* length = exec.lengths;
    for (std::uint16_t s = done.part.first_slot; s < done.part.end_slot; ++s)
      length += slots[s].is_range();
    std::uint64_t accesses = done.part.end_slot - done.part.first_slot;
    std::vector<Seq> cells = cells_[thread];
    follow({exec.end() - 1, exec.thread, &attempt, exec.addresses + accesses, length}, thread);
    cells_[thread] = std::move(cells);
  }

  void follow_registers(const Exec& exec, const BlockPlans::Section& section,
                        const std::vector<Seq>& cells) {
    auto arcs = plans_.of(section.arcs);
    auto uses = plans_.of(section.uses);
    if constexpr (CountsArcs<Sink>) {
      std::uint64_t count = arcs.size();
      for (PlannedUse use : uses) count += cells[use.cell] != kNoParent;
      sink_.count(ArcKind::kRegister, count);
    } else {
      for (PlannedArc arc : arcs)
        sink_({ArcKind::kRegister, instance(exec, arc.use), exec.seq + arc.def, {}, 0});
      for (PlannedUse use : uses)
        if (cells[use.cell] != kNoParent)
          sink_({ArcKind::kRegister, instance(exec, use.step), cells[use.cell], {}, 0});
    }
  }

  void follow_memory(const Exec& exec, const BlockPlans::Section& section, std::uint32_t thread,
                     const std::uint64_t*& length) {
    for (const PlannedAccess& access : plans_.of(section.accesses)) {
      std::uint64_t size = access.size == 0 ? *length++ : access.size;
      Addr address(exec.addresses[access.access]);
      if (address == kAbsent || size == 0 || !access.carries) continue;
      auto follow = [&](ArcKind kind, Mark from, Addr at, std::uint64_t bytes) {
        sink_({kind, instance(exec, access.step), from.seq(), at, bytes});
      };
      Mark me(exec.seq + access.step, thread);
      if (access.write) {
        memory_.write(me, address, size, follow);
        carried_.forget(address, size);
      } else {
        memory_.read(me, address, size, follow);
        follow_carried(address, size, follow);
      }
    }
  }

  const CodeTable& code_;
  ControlTracker tracker_;
  std::span<const Seq> faults_;  // that are to come
  Sink sink_;
  BlockPlans plans_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;  // of threads by id
  ThreadId recent_id_{};
  std::uint32_t recent_ = 0;
  std::vector<std::vector<Seq>> cells_;  // by thread: the last writer of each cell
  std::vector<Instance> last_;           // by thread: its last instruction; {} before its first
  LastAccesses memory_;
  Carried<Mark> carried_;
  RegisterWriters registers_;
};

}  // namespace svd
