// SPDX-License-Identifier: Apache-2.0
#include "cu/value_flow.h"

#include <algorithm>
#include <utility>

namespace svd {

// Those that no register, memory or condition has any more.
void ValueFlow::forget_sets() {
  sets_.forget_but([this](auto&& rename) {
    auto registers = static_cast<std::ptrdiff_t>(plans_.registers());
    for (Thread& thread : threads_) {
      std::for_each(thread.values.begin(), thread.values.begin() + registers, rename);
      thread.control.update(rename);
    }
    private_.update_all([&](Addr, unsigned, TagSet& set) { rename(set); });
  });
}

// Control comes to the step.
inline void ValueFlow::come_to(std::uint16_t step, Thread& state) {
  while (next_segment_ != segments_.size() && segments_[next_segment_].first <= step)
    state.control.at(segments_[next_segment_++].second);
}

const ValueFlow::Outline& ValueFlow::outline(BlockId id) {
  if (outlines_.size() <= id.value) outlines_.resize(id.value + 1);
  Outline& outline = outlines_[id.value];
  if (outline.made) return outline;
  outline.made = true;
  auto add = [](std::vector<Cell>& cells, Cell cell) {
    if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
  };
  const std::vector<Step>& steps = code_.block(id).steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (CellUse use : code_.uses(steps[i])) {
      if (std::find(outline.defs.begin(), outline.defs.end(), use.cell) == outline.defs.end())
        add(outline.uses, use.cell);
    }
    for (CellDef def : code_.defs(steps[i])) add(outline.defs, def.cell);
    if (steps[i].branch) outline.branches.push_back(static_cast<std::uint16_t>(i));
  }
  return outline;
}

// Whether it is of a whole block, and its accesses are known.
bool ValueFlow::is_whole(const Exec& exec) const {
  const Part& part = exec.shape->part;
  return exec.addresses != nullptr && part.first == 0 && part.first_slot == 0 &&
         part.end == code_.block(exec.shape->id).steps.size() &&
         part.end_slot == exec.block().slots.size();
}

bool ValueFlow::follows_from_nothing(const Exec& exec, const Thread& state,
                                     const Outline& outline) const {
  if (!std::all_of(outline.uses.begin(), outline.uses.end(),
                   [&](Cell cell) { return state.values[cell].empty(); }))
    return false;
  bool nothing = true;
  exec.accesses([&](const MemoryAccess& memory) {
    if (!memory.slot->write) nothing = nothing && !private_.any(memory.address, memory.size);
  });
  return nothing;
}

// The whole block, as its plan would do it.
void ValueFlow::pass(const Exec& exec, Thread& state, const Outline& outline) {
  for (Cell cell : outline.defs) state.values[cell] = {};
  exec.accesses([&](const MemoryAccess& memory) {
    if (memory.slot->write) keep(memory.address, memory.size, {});
  });
  const std::vector<Step>& steps = code_.block(exec.shape->id).steps;
  for (std::uint16_t index : outline.branches) {
    come_to(index, state);
    state.control.decide(exec.seq + index, steps[index].pc, steps[index].post_dominator, {});
  }
}

void ValueFlow::exec(const Exec& exec, std::size_t thread, bool any_shared, SharedMemory& shared) {
  if (sets_.crowded()) forget_sets();
  segments_.clear();
  next_segment_ = 0;
  tracker_.exec(exec,
                [this](std::uint16_t first, Seq parent) { segments_.emplace_back(first, parent); });
  Thread& state = threads_[thread];
  if (!any_shared && is_whole(exec) && follows_from_nothing(exec, state, outline(exec.shape->id))) {
    pass(exec, state, outline(exec.shape->id));
  } else {
    std::span<const FlowOp> plan = plans_.of(*exec.shape);
    if (state.values.size() < plans_.values()) state.values.resize(plans_.values());
    run(plan, exec, thread, any_shared, shared);
  }
  come_to(exec.shape->part.end, state);
}

void ValueFlow::run(std::span<const FlowOp> plan, const Exec& exec, std::size_t thread,
                    bool any_shared, SharedMemory& shared) {
  TagSet* values = threads_[thread].values.data();
  for (const FlowOp& op : plan) {
    switch (op.kind) {
      case FlowOp::kUnite:
        values[op.into] = sets_.unite(values[op.a], values[op.b], thread);
        break;
      case FlowOp::kLoad:
        values[op.into] = values[op.a];
        load(op, exec, thread, any_shared, shared);
        break;
      case FlowOp::kStore:
        store(op, exec, thread, any_shared, shared);
        break;
      case FlowOp::kRanges:
        values[op.into] = values[std::exchange(met_range_, false) ? op.b : op.a];
        break;
      case FlowOp::kDecide:
        decide(op, exec, threads_[thread], shared);
        break;
      case FlowOp::kWrite:
        values[op.into] = values[op.a];
        break;
    }
  }
}

inline ValueFlow::Place ValueFlow::place(const FlowOp& op, const Exec& exec) {
  if (exec.addresses == nullptr || exec.addresses[op.access] == kAbsent.value) return {};
  std::uint64_t size = op.is_range ? exec.lengths[op.length] : op.length;
  met_range_ |= op.is_range && size != 0;
  return {Addr(exec.addresses[op.access]), size};
}

inline void ValueFlow::load(const FlowOp& op, const Exec& exec, std::size_t thread, bool any_shared,
                            SharedMemory& shared) {
  auto [at, size] = place(op, exec);
  if (size == 0) return;
  Thread& state = threads_[thread];
  TagSet address = state.values[op.b];
  TagSet set = address;
  if (any_shared || !address.empty()) {
    come_to(op.step, state);
    Seq seq = seq_of(op, exec);
    bool is_shared = shared.shared(seq, false, at, size);
    if (!address.empty()) shared.address(seq, address);
    if (is_shared) set = sets_.unite(set, TagSets::of(shared.read(address)), thread);
  }
  private_.visit(at, size,
                 [&](Addr, unsigned, TagSet stored) { set = sets_.unite(set, stored, thread); });
  TagSet& into = state.values[op.into];
  into = sets_.unite(into, set, thread);
}

inline void ValueFlow::store(const FlowOp& op, const Exec& exec, std::size_t thread,
                             bool any_shared, SharedMemory& shared) {
  auto [at, size] = place(op, exec);
  if (size == 0) return;
  Thread& state = threads_[thread];
  TagSet value = state.values[op.a], address = state.values[op.b];
  if (any_shared || !value.empty() || !address.empty()) {
    come_to(op.step, state);
    if (shared.shared(seq_of(op, exec), true, at, size)) {
      shared.write(value, address);
      value = {};
    }
  }
  keep(at, size, value);
}

inline void ValueFlow::decide(const FlowOp& op, const Exec& exec, Thread& state,
                              SharedMemory& shared) {
  const Step& step = code_.block(exec.shape->id).steps[op.step];
  TagSet condition = state.values[op.a];
  if (!step.branch && condition.empty()) return;
  come_to(op.step, state);
  Seq seq = seq_of(op, exec);
  if (!condition.empty()) shared.branch(seq, condition);
  state.control.decide(seq, step.pc, step.branch ? step.post_dominator : step.pc, condition);
}

void ValueFlow::keep(Addr address, std::uint64_t size, TagSet set) {
  if (set.empty() && !private_.any(address, size)) return;
  private_.set(address, size, set);
}

void ValueFlow::event(const Event& event, std::size_t thread) {
  tracker_.event(event);
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    if (kernel->access == Access::kWrite) keep(kernel->address, kernel->size, {});
  } else if (std::holds_alternative<SyscallExit>(event.body)) {
    for (Cell cell : code_.cells_of(Reg::kRax)) threads_[thread].values[cell] = {};
  }
}

}  // namespace svd
