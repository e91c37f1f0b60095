// SPDX-License-Identifier: Apache-2.0
//
// Definition (Tallam, Tian, Gupta, Fig. 2): the backward closure of the criterion over read-after-
// write and control dependences; then, for every instance of it that takes part in a read-after-
// write, one step backward over write-after-write and one forward over write-after-read, between
// threads, and only to the adjacent access (what lies further follows by transitivity, Netzer).
//
//     T1  x = 1;        W       the reads of x below follow from this ...
//     T2  x = 2;        in the slice: it is what T1 reads
//     T1  y = x;        in the slice
//     T1  assert(y == 1)        criterion; W -> (x = 2) is a write-after-write edge, and with the
//                               read of x, T1's W .. T2 .. T1's read is a triple
//
// Algorithm: all edges point back in time, so one reverse walk meets every definition after all its
// uses. It holds what is still wanted: cells of each thread's registers, bytes of memory, instances
// that decided. An instance that satisfies a want joins the slice and wants what it follows from.
// Its distance is final when it is met, because whatever needs it comes later in the trace: a
// shortest path without a queue.
// Cost: time linear in the trace; a shadow of the program's memory, and what is wanted at one time.
//
// Unsound: what the kernel wrote counts as a definition by the system call, with no order edges.
#include "slicer/backward.h"

#include "dpdg/system_calls.h"
#include "slicer/backward_walk.h"
#include "slicer/restored_edges.h"
#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

constexpr Columns kColumns{.addresses = true, .values = false, .events = true};

}  // namespace

void BackwardWalk::run(Diagnostics& diagnostics, const ProgressFunction& progress) {
  std::uint64_t done = 0;
  ChunkStream stream(input_.trace, TraceReader::Order::kBackward, kColumns);
  while (const ChunkStream::Decoded* next = stream.next()) {
    if (!next->status) {
      add_lost_chunk(diagnostics, input_.trace.chunks()[next->index], next->status.error());
      continue;
    }
    begin_chunk(next->index, next->chunk);
    next->chunk.walk_back(*this);
    progress(done += next->chunk.steps);
  }
  memory_.visit_all([this](Addr, unsigned, WantId id) { count_initial_read(id); });
}

void BackwardWalk::exec(const Exec& exec) {
  --exec_index_;
  const CodeBlock& block = input_.code.block(exec.shape->id);
  const Part& part = exec.shape->part;
  ThreadState& state = thread(exec.thread);
  if (part.end > block.steps.size()) return;
  while (!faults_.empty() && faults_.back() >= exec.end())
    faults_ = faults_.first(faults_.size() - 1);
  auto segments = control_.of(exec_index_);
  std::size_t segment = segments.size();
  bool quiet = !may_matter(exec, state);
  for (std::uint16_t i = part.end; i-- > part.first;) {
    const Step& now = block.steps[i];
    if (quiet && now.end_slot == now.first_slot) {
      ++state.own;
      continue;
    }
    while (segment > 1 && segments[segment - 1].first > i) --segment;
    bool joined = step(exec, i, now, segments[segment - 1].parent, state);
    quiet = quiet && !joined && (defines_[exec.shape->id.value] & state.wanted_bits) == 0;
  }
}

void BackwardWalk::find_quiet_blocks() {
  for (std::size_t b = 0; b < input_.trace.blocks().size(); ++b) {
    std::uint64_t bits = 0;
    for (const Step& step : input_.code.block(BlockId(static_cast<std::uint32_t>(b))).steps) {
      for (CellDef def : input_.code.defs(step)) bits |= cell_bit(def.cell);
    }
    defines_.push_back(bits);
  }
}

// Whether anything but its accesses can bring a part of the execution into the slice.
bool BackwardWalk::may_matter(const Exec& exec, const ThreadState& state) const {
  if ((defines_[exec.shape->id.value] & state.wanted_bits) != 0 || state.kernel.any()) return true;
  if (!criteria_.empty() && criteria_.back().seq >= exec.seq) return true;
  auto first = decides_.begin() + static_cast<std::ptrdiff_t>(exec.seq - chunk_first_);
  return std::any_of(first, first + exec.shape->part.steps(),
                     [](std::uint32_t decision) { return decision != 0; });
}

bool BackwardWalk::step(const Exec& exec, std::uint16_t index, const Step& step, Seq parent,
                        ThreadState& state) {
  Seq seq = exec.seq + static_cast<std::uint64_t>(index - exec.shape->part.first);
  Instance me{seq, step.id, exec.thread};
  ++state.own;
  Hit hit;
  if (std::uint32_t decision = decides_[seq - chunk_first_]; decision != 0)
    take_decision(decisions_[decision], me, step, hit);
  take_registers(exec, step, me, state, hit);
  if (step.end_slot > step.first_slot) {
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      if (!slot.write) return;
      if (options_.races) race_before_write(address, size, me);
      take_memory(address, size, &step, me, state, hit);
      if (options_.races) next_write_.set(address, size, me);
    });
  }
  const Hit& kernel = state.kernel.wanted;
  if (kernel.any && (!hit.any || kernel.distance < hit.distance)) hit = kernel;
  if (hit.any && options_.scope.admits(me, hit.distance)) {
    join_slice(exec, step, me, hit, parent, state);
    give_to_others(me);
  }
  remote_wants_.clear();
  while (!criteria_.empty() && criteria_.back().seq >= seq) {
    if (criteria_.back().seq == seq)
      apply_criterion(exec, step, criteria_.back(), me, parent, state);
    criteria_.pop_back();
  }
  if (state.kernel.any()) state.kernel = {};
  if (options_.races && !triple_at_.empty() && step.end_slot > step.first_slot) {
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      close_triples(address, size, slot.write, me, state);
    });
  }
  return hit.any;
}

void BackwardWalk::take_registers(const Exec& exec, const Step& step, const Instance& me,
                                  ThreadState& state, Hit& hit) {
  if (faulted(exec, step)) return;
  bool restores = step.restores && options_.save_restore;
  for (CellDef def : input_.code.defs(step)) {
    Want want = state.wanted[def.cell];
    if (!want.any) continue;
    forget_cell(state, def.cell);
    if (def.stack) continue;
    if (!restores || input_.code.reg_of(def.cell) != step.saved) {
      take_want(want, me, hit);
      continue;
    }
    want.restore = true;
    want.cell = def.cell;
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      if (!slot.write) memory_.want(address, size, want);
    });
  }
}

// `step` is null for what the kernel writes.
void BackwardWalk::take_memory(Addr address, std::uint64_t size, const Step* step,
                               const Instance& me, ThreadState& state, Hit& hit) {
  WantId last = 0;
  memory_.take(address, size, [&](Addr at, unsigned length, WantId id) {
    if (id == last) return;
    last = id;
    memory_.each(id, [&](const Want& want) {
      if (want.restore && step != nullptr && step->saves &&
          step->saved == input_.code.reg_of(want.cell)) {
        Want plain = want;
        plain.restore = false;
        plain.cell = 0;
        want_cell(state, want.cell, plain);
        return;
      }
      take_want(want, me, hit);
      if (want.by.thread != me.thread && step != nullptr)
        remote_wants_.push_back({want, at, length});
    });
  });
}

// Other threads read what `me` wrote.
void BackwardWalk::give_to_others(const Instance& me) {
  for (const auto& [want, at, length] : remote_wants_) {
    remote_reads_.add(me.id.value, want.by.id.value, {me, want.by, at, length, want.distance, 1},
                      want.distance);
    if (!options_.races) continue;
    open_triples_.push_back({want.by, me, want.distance, want.own});
    triple_at_.set(at, length, static_cast<std::uint32_t>(open_triples_.size() - 1));
  }
}

void BackwardWalk::take_want(const Want& want, const Instance& me, Hit& hit) {
  bool remote = want.by.thread != me.thread && want.via == Via::kValue;
  float step = remote || same_line(me, want.by) ? 0 : weight(want.via);
  float distance = want.distance + step;
  if (hit.any && hit.distance <= distance) return;
  hit = {true, distance, want.by, want.via};
}

// A branch, the call of an activation that has no open branch, or what created the thread.
void BackwardWalk::take_decision(const Want& want, const Instance& me, const Step& step, Hit& hit) {
  take_want(want, me, hit);
  if (want.by.thread != me.thread) {
    hit.via = Via::kSpawn;
  } else if (step.flow == Flow::kCall || step.flow == Flow::kIndirectCall) {
    hit.via = Via::kCall;
  }
  hit.distance += weight(hit.via) - weight(Via::kControl);
}

// What the instance wants is to be filled in.
Want BackwardWalk::add_item(const Instance& me, const Hit& hit, const ThreadState& state) {
  ++instances_;
  if (options_.which) members_.add(me.seq);
  std::uint32_t& index = item_of_[me.id.value];
  if (index == 0) {
    items_.push_back({.id = me.id, .distance = hit.distance + 1});
    index = static_cast<std::uint32_t>(items_.size());
  }
  SliceItem& item = items_[index - 1];
  ++item.instances;
  if (std::find(item.threads.begin(), item.threads.end(), me.thread) == item.threads.end())
    item.threads.push_back(me.thread);
  if (hit.distance < item.distance) {
    item.distance = hit.distance;
    item.nearest = me;
    item.needed_by = hit.needed_by;
    item.via = hit.via;
  }
  return {.by = me, .own = state.own, .distance = hit.distance, .any = true};
}

void BackwardWalk::join_slice(const Exec& exec, const Step& step, const Instance& me,
                              const Hit& hit, Seq parent, ThreadState& state) {
  Want want = add_item(me, hit, state);
  if (options_.control) want_decision(parent, want);
  if (!options_.data) return;
  for (CellUse use : input_.code.uses(step)) {
    if (use.role == UseRole::kAddress && !options_.addresses) continue;
    want.via = use.role == UseRole::kAddress ? Via::kAddress : Via::kValue;
    want_cell(state, use.cell, want);
  }
  // What a restore reads is wanted by who wants the register.
  if (!step.restores || !options_.save_restore) want_reads(exec, step, want);
  want.via = Via::kValue;
  want_arguments(state, want);
  if (options_.races) open_writes(exec, step, want);
}

void BackwardWalk::open_writes(const Exec& exec, const Step& step, const Want& by) {
  accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
    if (slot.write) writes_in_slice_.set(address, size, {by.by, by.distance});
  });
}

void BackwardWalk::apply_criterion(const Exec& exec, const Step& step, const Criterion& criterion,
                                   const Instance& me, Seq parent, ThreadState& state) {
  Want want = add_item(me, {.any = true, .needed_by = me}, state);
  bool values = criterion.values && options_.data;
  bool addresses = criterion.addresses && options_.data;
  for (CellUse use : input_.code.uses(step))
    if (use.role == UseRole::kAddress ? addresses : values) want_cell(state, use.cell, want);
  for (Reg reg : criterion.registers)
    for (Cell cell : input_.code.cells_of(reg)) want_cell(state, cell, want);
  for (auto [address, size] : criterion.memory) memory_.want(address, size, want);
  if (values) want_reads(exec, step, want);
  if (values) want_arguments(state, want);
  if (values && options_.races) open_writes(exec, step, want);
  if (criterion.control && options_.control) want_decision(parent, want);
}

void BackwardWalk::want_reads(const Exec& exec, const Step& step, const Want& want) {
  accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
    if (slot.write || step.flow == Flow::kReturn) return;
    if (slot.role == Role::kAddress && !options_.addresses) return;
    if (options_.races) race_after_read(address, size, want.by, want.distance);
    Want mine = want;
    mine.via = slot.role == Role::kAddress ? Via::kAddress : Via::kValue;
    memory_.want(address, size, mine);
  });
}

// What a system call was given: its arguments, and what the kernel read for it.
void BackwardWalk::want_arguments(ThreadState& state, const Want& want) {
  for (Reg reg : state.kernel.arguments)
    for (Cell cell : input_.code.cells_of(reg)) want_cell(state, cell, want);
  for (auto [address, size] : state.kernel.reads) memory_.want(address, size, want);
}

void BackwardWalk::want_decision(Seq parent, const Want& want) {
  if (parent == kNoParent) return;
  Want decision = want;
  decision.via = Via::kControl;
  if (parent >= chunk_first_)
    decide(parent, decision);
  else
    merge(deciding_[input_.trace.chunk_at(parent)][parent.value], decision);
}

void BackwardWalk::event(const Event& event) {
  if (auto fresh = fresh_memory(event)) begin_lifetime(event, *fresh);
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    ThreadState& state = thread(event.thread);
    if (kernel->access == Access::kRead) {
      state.kernel.reads.emplace_back(kernel->address, kernel->size);
      return;
    }
    Instance me{event.seq, {}, event.thread};
    Hit hit;
    take_memory(kernel->address, kernel->size, nullptr, me, state, hit);
    Hit& wanted = state.kernel.wanted;
    if (hit.any && (!wanted.any || hit.distance < wanted.distance)) {
      wanted = hit;
      wanted.via = Via::kSystemCall;
    }
  } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
    thread(event.thread).kernel.arguments = argument_registers(call->number);
  } else if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
    // The child began with its parent's registers.
    thread(create->child);
    ThreadState& parent = thread(event.thread);
    ThreadState& child = thread(create->child);
    for (std::size_t cell = 0; cell < child.wanted.size(); ++cell)
      if (child.wanted[cell].any) want_cell(parent, static_cast<Cell>(cell), child.wanted[cell]);
    std::fill(child.wanted.begin(), child.wanted.end(), Want{});
    child.wanted_bits = 0;
  }
}

// What was there before is another object's; a realloc keeps its contents.
void BackwardWalk::begin_lifetime(const Event& event, Range range) {
  const auto* made = std::get_if<Allocation>(&event.body);
  if (made != nullptr && made->function == AllocFn::kRealloc) return;
  memory_.take(range.address, range.size,
               [this](Addr, unsigned, WantId id) { count_initial_read(id); });
  if (!options_.races) return;
  next_write_.clear(range.address, range.size);
  writes_in_slice_.clear(range.address, range.size);
  triple_at_.clear(range.address, range.size);
}

void BackwardWalk::count_initial_read(WantId id) {
  ++items_[item_of_[memory_.first(id).by.id.value] - 1].initial_reads;
}

Slice slice_backward(const SliceInput& input, const std::vector<Criterion>& criteria,
                     const SliceOptions& options, Diagnostics& diagnostics,
                     const ProgressFunction& progress) {
  std::optional<Sequencers> sequencers;
  Diagnostics told;  // by the walk
  if (options.unordered) sequencers = Sequencers::of(input.trace, told);
  const Sequencers* unordered = sequencers ? &*sequencers : nullptr;
  SliceOptions used = options;
  used.which = options.which || options.restored;
  BackwardWalk walk(input, criteria, used, unordered);
  walk.run(diagnostics, progress);
  Slice slice = walk.take();
  if (options.restored)
    slice.races = restored_edges(input, slice, criteria, options, unordered, told);
  put_in_order(slice, ThreadOrder::of(input.trace, told));
  return slice;
}

}  // namespace svd
