// SPDX-License-Identifier: Apache-2.0
//
// The state of a reverse walk that makes a slice; see backward.cc. Private to the room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dpdg/lifetimes.h"
#include "dpdg/sequencers.h"
#include "dpdg/thread_order.h"
#include "slicer/backward.h"
#include "slicer/folds.h"
#include "slicer/wants.h"

namespace svd {

// Instances of one line that lie closer are taken for one execution of it.
inline constexpr std::uint64_t kLineSpan = 256;

// Cells in a word, some of which share a bit: those of general registers and flags come first and
// have one each.
constexpr std::uint64_t cell_bit(Cell cell) { return std::uint64_t{1} << (cell & 63); }

// What brings an instance into the slice: the nearest of all that want it.
struct Hit {
  bool any = false;
  float distance = 0;
  Instance needed_by{};
  Via via = Via::kCriterion;
};

// What the kernel did since the instruction of the thread that is met next: that one asked for it.
struct KernelWork {
  Hit wanted;  // what it wrote
  std::span<const Reg> arguments;
  std::vector<std::pair<Addr, std::uint64_t>> reads;

  bool any() const { return wanted.any || !arguments.empty() || !reads.empty(); }
};

struct ThreadState {
  explicit ThreadState(std::size_t cells) : wanted(cells) {}
  std::vector<Want> wanted;       // by cell
  std::uint64_t wanted_bits = 0;  // of cells that may be wanted
  std::uint64_t own = 0;          // instructions met so far
  KernelWork kernel;
};

// A write of the slice whose write before is looked for.
struct OpenWrite {
  Instance by{};
  float distance = 0;
  friend bool operator==(const OpenWrite&, const OpenWrite&) = default;
};

// Of bytes that another thread reads.
struct RemoteWant {
  Want want;
  Addr at;
  std::uint64_t length;
};

// A read from another thread whose reader's access before is looked for.
struct OpenTriple {
  Instance after;
  Instance remote;
  float distance;
  std::uint64_t own;
};

class BackwardWalk {
 public:
  BackwardWalk(const SliceInput& input, const std::vector<Criterion>& criteria,
               const SliceOptions& options, const Sequencers* sequencers)
      : input_(input),
        options_(options),
        sequencers_(sequencers),
        criteria_(criteria),
        faults_(input.control.faults()),
        item_of_(input.code.instr_count()),
        deciding_(input.trace.chunks().size()) {
    if (options.which) members_ = InstanceSet(input.trace), beside_ = InstanceSet(input.trace);
    std::sort(criteria_.begin(), criteria_.end(),
              [](const Criterion& a, const Criterion& b) { return a.seq < b.seq; });
    open_triples_.emplace_back();
    find_quiet_blocks();
  }

  void run(Diagnostics& diagnostics, const ProgressFunction& progress);
  void exec(const Exec& exec);
  void event(const Event& event);

  Slice take();  // in no order

 private:
  ThreadState& thread(ThreadId id) {
    if (threads_.size() <= id.value)
      threads_.resize(id.value + 1, ThreadState(input_.code.cell_count()));
    return threads_[id.value];
  }

  void begin_chunk(std::size_t index, const Chunk& chunk) {
    input_.control.parents(index, chunk, control_);
    exec_index_ = chunk.execs.size();
    chunk_index_ = index;
    chunk_first_ = chunk.first_seq;
    decides_.assign(chunk.steps, 0);
    decisions_.assign(1, {});
    for (const auto& [seq, want] : deciding_[index]) decide(Seq(seq), want);
    deciding_[index].clear();
  }

  // `seq` is of this chunk.
  void decide(Seq seq, const Want& want) {
    std::uint32_t& place = decides_[seq - chunk_first_];
    if (place == 0) {
      place = static_cast<std::uint32_t>(decisions_.size());
      decisions_.emplace_back();
    }
    merge(decisions_[place], want);
  }

  // Whether the instance is in the slice.
  bool step(const Exec& exec, std::uint16_t index, const Step& step, Seq parent,
            ThreadState& state);
  void find_quiet_blocks();
  bool may_matter(const Exec& exec, const ThreadState& state) const;
  void want_cell(ThreadState& state, Cell cell, const Want& want) {
    merge(state.wanted[cell], want);
    state.wanted_bits |= cell_bit(cell);
  }
  static void forget_cell(ThreadState& state, Cell cell) {
    state.wanted[cell].any = false;
    for (std::size_t other = cell & 63; other < state.wanted.size(); other += 64)
      if (state.wanted[other].any) return;
    state.wanted_bits &= ~cell_bit(cell);
  }
  void take_registers(const Exec& exec, const Step& step, const Instance& me, ThreadState& state,
                      Hit& hit);
  void take_memory(Addr address, std::uint64_t size, const Step* step, const Instance& me,
                   ThreadState& state, Hit& hit);
  void give_to_others(const Instance& me);
  void take_want(const Want& want, const Instance& me, Hit& hit);
  void take_decision(const Want& want, const Instance& me, const Step& step, Hit& hit);
  void join_slice(const Exec& exec, const Step& step, const Instance& me, const Hit& hit,
                  Seq parent, ThreadState& state);
  void apply_criterion(const Exec& exec, const Step& step, const Criterion& criterion,
                       const Instance& me, Seq parent, ThreadState& state);
  Want add_item(const Instance& me, const Hit& hit, const ThreadState& state);
  void want_arguments(ThreadState& state, const Want& want);
  void want_decision(Seq parent, const Want& want);
  void open_writes(const Exec& exec, const Step& step, const Want& by);
  void want_reads(const Exec& exec, const Step& step, const Want& want);
  void race_before_write(Addr address, std::uint64_t size, const Instance& me);
  void race_after_read(Addr address, std::uint64_t size, const Instance& me, float distance);
  void close_triples(Addr address, std::uint64_t size, bool write, const Instance& me,
                     const ThreadState& state);
  void begin_lifetime(const Event& event, Range range);
  void count_initial_read(WantId id);
  // For those who ask which instances they are.
  void note_beside(const Instance& at) {
    if (options_.which) beside_.add(at.seq);
  }
  void add_race(RaceEdge::Kind kind, const Instance& first, const Instance& second, Addr address,
                std::uint64_t size, float distance);

  // Then it defines nothing.
  bool faulted(const Exec& exec, const Step& step) const {
    return !faults_.empty() && faults_.back() == exec.end() - 1 &&
           &step == &input_.code.block(exec.shape->id).steps[exec.shape->part.end - 1U];
  }

  // Calls f(slot, address, size) for the accesses of a step that happened.
  template <class F>
  void accesses(const Exec& exec, const Step& step, F&& f) const {
    const Part& part = exec.shape->part;
    const Block& block = *exec.shape->block;
    std::uint16_t first = std::max(step.first_slot, part.first_slot);
    std::uint16_t end = std::min(step.end_slot, part.end_slot);
    if (exec.addresses == nullptr) return;
    bool fault = faulted(exec, step);
    const std::uint64_t* length = exec.lengths;
    if (exec.shape->ranges != 0)
      for (std::uint16_t s = part.first_slot; s < first; ++s) length += block.slots[s].is_range();
    for (std::uint16_t s = first; s < end; ++s) {
      const Slot& slot = block.slots[s];
      std::uint64_t size = slot.is_range() ? *length++ : slot.size;
      std::uint64_t address = exec.addresses[s - part.first_slot];
      bool happened = address != kAbsent.value && size != 0 && !(fault && slot.write);
      if (happened) f(slot, Addr(address), size);
    }
  }

  bool same_line(const Instance& a, const Instance& b) const {
    if (input_.lines.empty() || a.thread != b.thread) return false;
    std::uint32_t line = input_.lines[a.id.value];
    return line != 0 && line == input_.lines[b.id.value] && b.seq - a.seq < kLineSpan;
  }

  const SliceInput& input_;
  SliceOptions options_;
  const Sequencers* sequencers_;     // null: order edges need not be unordered
  std::vector<Criterion> criteria_;  // those not yet met, by seq
  std::span<const Seq> faults_;      // the same

  // By block: the cells that it defines; all bits where it does more than that.
  std::vector<std::uint64_t> defines_;
  MemoryWants memory_;
  std::uint64_t instances_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<std::uint32_t> item_of_;  // by InstrId, plus 1
  std::vector<SliceItem> items_;
  InstanceSet members_, beside_;  // empty unless they are asked for

  // Instances that decided: of earlier chunks, and of this one by step.
  std::vector<std::unordered_map<std::uint64_t, Want>> deciding_;
  std::vector<std::uint32_t> decides_;  // into decisions_; 0: nothing
  std::vector<Want> decisions_;
  ChunkControl control_;
  std::size_t exec_index_ = 0;
  std::size_t chunk_index_ = 0;
  Seq chunk_first_{};

  std::vector<RemoteWant> remote_wants_;  // that this step satisfies
  ByteShadow<Instance> next_write_;       // the first write after here
  ByteShadow<OpenWrite> writes_in_slice_;
  ByteShadow<std::uint32_t> triple_at_;  // index into open_triples_
  std::vector<OpenTriple> open_triples_;
  Fold<RemoteRead> remote_reads_;
  Fold<Triple> triples_;
  Fold<RaceEdge> races_;
};

// Each kind of thing by what it is ordered by; and says which order edges `order` orders.
void put_in_order(Slice& slice, const ThreadOrder& order);

}  // namespace svd
