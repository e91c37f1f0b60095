// SPDX-License-Identifier: Apache-2.0
//
// What takes part in dependences between threads: the accesses of instructions and of the kernel,
// in the order of the run. Private to the room.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "dpdg/lifetimes.h"
#include "svd/trace/reader.h"

namespace svd {

struct Touched {
  Addr address{};
  std::uint64_t size = 0;
  bool write = false;
  ThreadId thread{};
  Seq seq{};
};

// Calls access(Touched) for all accesses of instructions and the kernel, fresh(Range) where memory
// has a new lifetime. What the kernel does before the thread did anything is by nobody; what an
// instruction that faulted would have written is nothing.
template <class Sink>
class Accesses {
 public:
  Accesses(std::span<const Seq> faults, Sink& sink) : faults_(faults), sink_(sink) {}

  void exec(const Exec& exec) {
    while (!faults_.empty() && faults_.front() < exec.seq) faults_ = faults_.subspan(1);
    exec.accesses([&](const MemoryAccess& a) {
      bool attempted = a.slot->write && !faults_.empty() && faults_.front() == a.seq;
      if (a.size > 0 && !attempted)
        sink_.access({a.address, a.size, a.slot->write, exec.thread, a.seq});
    });
    last_[exec.thread] = exec.end() - 1;
  }

  void event(const Event& event) {
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      bool write = kernel->access == Access::kWrite;
      auto last = last_.find(event.thread);
      if (kernel->size == 0) return;
      if (last != last_.end())
        sink_.access({kernel->address, kernel->size, write, event.thread, last->second});
      else if (write)
        sink_.fresh({kernel->address, kernel->size});
    } else if (auto fresh = fresh_memory(event)) {
      const auto* made = std::get_if<Allocation>(&event.body);
      if (made == nullptr || made->function != AllocFn::kRealloc) sink_.fresh(*fresh);
    }
  }

 private:
  std::span<const Seq> faults_;  // that are to come
  Sink& sink_;
  std::unordered_map<ThreadId, Seq> last_;
};

// As far as the chunk in which `end` lies.
template <class Sink>
void walk_accesses(const TraceReader& trace, std::span<const Seq> faults, Sink& sink, Seq end,
                   Diagnostics& diagnostics, const ProgressFunction& progress = no_progress) {
  Accesses<Sink> accesses(faults, sink);
  trace.scan(TraceReader::Order::kForward, {.addresses = true, .values = false}, diagnostics,
             [&](const Chunk& chunk) {
               chunk.walk(accesses);
               progress(chunk.end_seq().value);
               return chunk.end_seq() < end;
             });
}

}  // namespace svd
