// SPDX-License-Identifier: Apache-2.0
//
// The arcs of the dynamic program dependence graph, one after the other, in the order of the run.
// Nothing is stored but the last accesses to each place: a pass takes the arcs that it needs as
// they come. Every arc leads from an instance back to one that it follows from.
//
// - kRegister, kMemory: of each part that is read, its last writer in the total order (DESIGN §5,
//   RAW); byte-exact. kMemory is told apart from kRemote, where the writer is another thread.
// - kControl: what decided that it ran.
// - kWriteAfterWrite, kWriteAfterRead: between threads, adjacent accesses only (Netzer): no write
//   lies between them, and no later read of the reader's thread.
//
// The stack pointer's own arcs are left out, and a register that was saved and restored by the same
// activation keeps its writer. A system call's instruction uses the registers of its arguments and
// reads and writes what the kernel does for it; what other threads did while the call was under way
// is in no order with it. Memory that becomes new has no writer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "dpdg/instance.h"
#include "dpdg/lifetimes.h"
#include "dpdg/system_calls.h"
#include "svd/trace/chunk.h"

namespace svd {

enum class ArcKind : std::uint8_t {
  kRegister,
  kMemory,
  kRemote,
  kControl,
  kWriteAfterWrite,
  kWriteAfterRead
};
inline constexpr std::size_t kArcKinds = 6;

struct Arc {
  ArcKind kind{};
  Instance use{};  // the later one
  Seq def{};       // what it follows from
  Addr address{};  // of arcs through memory
  std::uint64_t size = 0;
};

// Sink: void operator()(const Arc&).
template <class Sink>
class Dependences {
 public:
  Dependences(const CodeTable& code, ControlTracker tracker, Sink sink)
      : code_(code), tracker_(std::move(tracker)), sink_(std::move(sink)), readers_(1) {}

  void event(const Event& event) {
    tracker_.event(event);
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      const Instance& me = last(event.thread);
      if (kernel->access == Access::kWrite)
        write(me, kernel->address, kernel->size);
      else if (me != Instance{})
        read(me, kernel->address, kernel->size);
    } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
      system_call(last(event.thread), call->number);
    }
    if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      thread(create->child);
      thread(create->child) = thread(event.thread);
    } else if (auto fresh = fresh_memory(event)) {
      const auto* made = std::get_if<Allocation>(&event.body);
      if (made != nullptr && made->function == AllocFn::kRealloc) return;  // keeps what it holds
      writes_.clear(fresh->address, fresh->size);
      reads_.clear(fresh->address, fresh->size);
    }
  }

  void exec(const Exec& exec) {
    const CodeBlock& block = code_.block(exec.shape->id);
    const Part& part = exec.shape->part;
    segments_.clear();
    tracker_.exec(
        exec, [this](std::uint16_t first, Seq parent) { segments_.emplace_back(first, parent); });
    if (part.end > block.steps.size()) return;
    std::vector<Seq>& cells = thread(exec.thread);
    const std::uint64_t* length = exec.lengths;
    if (readers_.size() > readers_limit_) collect_readers();
    std::size_t segment = 0;
    for (std::uint16_t i = part.first; i < part.end; ++i) {
      while (segment + 1 < segments_.size() && segments_[segment + 1].first <= i) ++segment;
      step(exec, block.steps[i], exec.seq + static_cast<std::uint64_t>(i - part.first),
           segments_[segment].second, cells, length);
    }
    last(exec.thread) = {exec.end() - 1, block.steps[part.end - 1U].id, exec.thread};
  }

  Sink& sink() { return sink_; }
  std::uint64_t memory_bytes() const {
    return writes_.memory_bytes() + reads_.memory_bytes() + readers_.size() * sizeof(Reader);
  }

 private:
  struct Reader {
    Instance instance;
    std::uint32_t next = 0;
    bool shared = false;  // by several cells of the shadow
  };

  std::vector<Seq>& thread(ThreadId id) {
    if (threads_.size() <= id.value) threads_.resize(id.value + 1);
    if (threads_[id.value].empty()) threads_[id.value].assign(code_.cell_count(), kNoParent);
    return threads_[id.value];
  }

  // The thread's last instruction; {} before its first.
  Instance& last(ThreadId id) {
    if (last_.size() <= id.value) last_.resize(id.value + 1);
    return last_[id.value];
  }

  void step(const Exec& exec, const Step& step, Seq seq, Seq parent, std::vector<Seq>& cells,
            const std::uint64_t*& length) {
    Instance me{seq, step.id, exec.thread};
    if (parent != kNoParent) sink_({ArcKind::kControl, me, parent, {}, 0});
    for (CellUse use : code_.uses(step))
      if (cells[use.cell] != kNoParent) sink_({ArcKind::kRegister, me, cells[use.cell], {}, 0});
    std::uint64_t last_address = 0;
    const Part& part = exec.shape->part;
    const Block& block = *exec.shape->block;
    if (exec.addresses != nullptr) {
      std::uint16_t end = std::min(step.end_slot, part.end_slot);
      for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
        const Slot& slot = block.slots[s];
        std::uint64_t size = slot.is_range() ? *length++ : slot.size;
        std::uint64_t address = exec.addresses[s - part.first_slot];
        if (address == kAbsent.value || size == 0) continue;
        last_address = address;
        if (slot.write)
          write(me, Addr(address), size);
        else if (step.flow != Flow::kReturn && !step.restores)
          read(me, Addr(address), size);
      }
    }
    if (step.saves) {
      auto writer = saved_[last_address].begin();
      for (CellUse use : code_.uses(step))
        if (code_.reg_of(use.cell) == step.saved && use.role == UseRole::kValue)
          *writer++ = cells[use.cell];
    }
    std::size_t restored = 0;
    for (CellDef def : code_.defs(step)) {
      if (step.restores && code_.reg_of(def.cell) == step.saved)
        cells[def.cell] = saved_[last_address][restored++];
      else
        cells[def.cell] = def.stack ? kNoParent : seq;
    }
  }

  // The instruction has run, but what holds its arguments it leaves alone.
  void system_call(const Instance& me, std::uint32_t number) {
    if (me == Instance{}) return;
    for (Reg reg : argument_registers(number))
      for (Cell cell : code_.cells_of(reg))
        if (Seq writer = thread(me.thread)[cell]; writer != kNoParent)
          sink_({ArcKind::kRegister, me, writer, {}, 0});
  }

  void read(const Instance& me, Addr address, std::uint64_t size) {
    writes_.visit(address, size, [&](Addr at, unsigned length, const Instance& write) {
      ArcKind kind = write.thread == me.thread ? ArcKind::kMemory : ArcKind::kRemote;
      sink_({kind, me, write.seq, at, length});
    });
    // Readers since the last write, one for each thread; most places have one.
    std::uint64_t at = address.value;
    const std::uint64_t end = at + size;
    auto fresh = [&](std::uint64_t to) {
      if (at >= to) return;
      bool shared = at >> 3 != (to - 1) >> 3;
      readers_.push_back({me, 0, shared});
      reads_.set(Addr(at), to - at, static_cast<std::uint32_t>(readers_.size() - 1));
    };
    reads_.visit(address, size, [&](Addr from, unsigned length, std::uint32_t first) {
      fresh(from.value);
      at = from.value + length;
      Reader& only = readers_[first];
      if (only.instance.thread == me.thread && only.next == 0 && !only.shared && length == 8) {
        only.instance = me;
        return;
      }
      std::uint32_t list = 0;
      for (std::uint32_t r = first; r != 0; r = readers_[r].next)
        if (readers_[r].instance.thread != me.thread) {
          readers_.push_back({readers_[r].instance, list});
          list = static_cast<std::uint32_t>(readers_.size() - 1);
        }
      readers_.push_back({me, list});
      reads_.set(from, length, static_cast<std::uint32_t>(readers_.size() - 1));
    });
    fresh(end);
  }

  // Lists that places share are never changed; those that no place has any more are dropped now and
  // then.
  void collect_readers() {
    std::vector<Reader> kept(1);
    reads_.visit_all([&](Addr at, unsigned length, std::uint32_t first) {
      std::uint32_t list = 0;
      for (std::uint32_t r = first; r != 0; r = readers_[r].next) {
        kept.push_back({readers_[r].instance, list});
        list = static_cast<std::uint32_t>(kept.size() - 1);
      }
      reads_.set(at, length, list);
    });
    readers_ = std::move(kept);
    readers_limit_ = std::max<std::size_t>(kMinReaders, 2 * readers_.size());
  }

  void write(const Instance& me, Addr address, std::uint64_t size) {
    writes_.visit(address, size, [&](Addr at, unsigned length, const Instance& before) {
      if (before.thread != me.thread && before.seq < me.seq)
        sink_({ArcKind::kWriteAfterWrite, me, before.seq, at, length});
    });
    bool any = false;
    reads_.visit(address, size, [&](Addr at, unsigned length, std::uint32_t first) {
      any = true;
      for (std::uint32_t r = first; r != 0; r = readers_[r].next)
        if (readers_[r].instance.thread != me.thread && readers_[r].instance.seq < me.seq)
          sink_({ArcKind::kWriteAfterRead, me, readers_[r].instance.seq, at, length});
    });
    if (any) reads_.set(address, size, 0);
    writes_.set(address, size, me);
  }

  const CodeTable& code_;
  ControlTracker tracker_;
  Sink sink_;
  std::vector<std::vector<Seq>> threads_;  // by thread: the last writer of each cell
  ByteShadow<Instance> writes_;
  ByteShadow<std::uint32_t> reads_;  // into readers_
  static constexpr std::size_t kMinReaders = 1 << 20;
  std::vector<Reader> readers_;
  std::size_t readers_limit_ = kMinReaders;
  std::vector<Instance> last_;                  // by thread
  static constexpr std::size_t kMostCells = 3;  // of a general register: the lanes that it has
  // By place: the writers of the register there, cell by cell.
  std::unordered_map<std::uint64_t, std::array<Seq, kMostCells>> saved_;
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
};

}  // namespace svd
