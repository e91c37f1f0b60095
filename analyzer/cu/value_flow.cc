// SPDX-License-Identifier: Apache-2.0
#include "cu/value_flow.h"

#include <algorithm>

namespace svd {

// Those that no register, memory or condition has any more.
void ValueFlow::forget_sets() {
  sets_.forget_but([this](auto&& rename) {
    for (Thread& thread : threads_) {
      std::for_each(thread.cells.begin(), thread.cells.end(), rename);
      thread.control.update(rename);
      rename(thread.carried_value);
      rename(thread.carried_address);
    }
    private_.update_all([&](Addr, unsigned, TagSet& set) { rename(set); });
  });
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

bool ValueFlow::follows_from_nothing(const Exec& exec, const Thread& state,
                                     const Outline& outline) const {
  if (!std::all_of(outline.uses.begin(), outline.uses.end(),
                   [&](Cell cell) { return state.cells[cell].empty(); }))
    return false;
  bool nothing = true;
  exec.accesses([&](const MemoryAccess& memory) {
    if (!memory.slot->write) nothing = nothing && !private_.any(memory.address, memory.size);
  });
  return nothing;
}

// The whole block, as step() would do it.
void ValueFlow::pass(const Exec& exec, Thread& state, const Outline& outline) {
  for (Cell cell : outline.defs) state.cells[cell] = {};
  exec.accesses([&](const MemoryAccess& memory) {
    if (memory.slot->write) keep(memory.address, memory.size, {});
  });
  auto segment = segments_.begin();
  auto enter = [&](std::uint16_t index) {
    for (; segment != segments_.end() && segment->first <= index; ++segment)
      state.control.at(segment->second);
  };
  const std::vector<Step>& steps = code_.block(exec.shape->id).steps;
  for (std::uint16_t index : outline.branches) {
    enter(index);
    state.control.decide(exec.seq + index, steps[index].pc, steps[index].post_dominator, {});
  }
  enter(exec.shape->part.end);
}

void ValueFlow::exec(const Exec& exec, std::size_t thread, bool any_shared, SharedMemory& shared) {
  if (sets_.crowded()) forget_sets();
  segments_.clear();
  tracker_.exec(exec,
                [this](std::uint16_t first, Seq parent) { segments_.emplace_back(first, parent); });
  const Part& part = exec.shape->part;
  const CodeBlock& block = code_.block(exec.shape->id);
  if (part.end > block.steps.size()) return;
  bool whole = part.first == 0 && part.end == block.steps.size() && part.first_slot == 0 &&
               part.end_slot == exec.block().slots.size();
  if (whole && !any_shared && exec.addresses != nullptr) {
    const Outline& outline = this->outline(exec.shape->id);
    if (follows_from_nothing(exec, threads_[thread], outline))
      return pass(exec, threads_[thread], outline);
  }
  lengths_ = 0;
  auto segment = segments_.begin();
  for (std::uint16_t i = part.first; i < part.end; ++i) {
    if (segment != segments_.end() && segment->first == i) {
      threads_[thread].control.at(segment->second);
      ++segment;
    }
    step(exec, thread, i, shared);
  }
}

void ValueFlow::step(const Exec& exec, std::size_t thread, std::uint16_t index,
                     SharedMemory& shared) {
  const Step& step = code_.block(exec.shape->id).steps[index];
  const Part& part = exec.shape->part;
  Thread& state = threads_[thread];
  Seq seq = exec.seq + static_cast<std::uint64_t>(index - part.first);
  Operands operands;
  for (CellUse use : code_.uses(step)) {
    TagSet set = state.cells[use.cell];
    if (set.empty()) continue;
    TagSet& kind = use.role == UseRole::kAddress                    ? operands.address
                   : use.role == UseRole::kCondition && step.branch ? operands.condition
                                                                    : operands.value;
    kind = sets_.unite(kind, set, thread);
  }
  operands.registers = operands.value;
  if (part.first_slot > step.first_slot && part.first_slot < step.end_slot) {
    operands.value = sets_.unite(operands.value, state.carried_value, thread);
    operands.address = sets_.unite(operands.address, state.carried_address, thread);
  }
  std::size_t end_slot = std::min(step.end_slot, part.end_slot);
  if (exec.addresses != nullptr) {
    for (std::size_t slot = std::max(step.first_slot, part.first_slot); slot < end_slot; ++slot)
      access(exec, thread, seq, step, slot, operands, shared);
  }
  if (end_slot < step.end_slot) {
    state.carried_value = operands.value;
    state.carried_address = operands.address;
  }
  TagSet result = operands.ranges ? operands.registers : operands.value;
  for (CellDef def : code_.defs(step)) state.cells[def.cell] = def.stack ? TagSet{} : result;
  bool computed = step.flow == Flow::kIndirectJump || step.flow == Flow::kIndirectCall;
  if (computed) operands.condition = operands.value;
  if (!operands.condition.empty()) shared.branch(seq, operands.condition);
  if (step.branch || !operands.condition.empty())
    state.control.decide(seq, step.pc, step.branch ? step.post_dominator : step.pc,
                         operands.condition);
}

void ValueFlow::access(const Exec& exec, std::size_t thread, Seq seq, const Step& step,
                       std::size_t index, Operands& operands, SharedMemory& shared) {
  const Slot& slot = exec.block().slots[index];
  std::uint64_t size = slot.is_range() ? exec.lengths[lengths_++] : slot.size;
  std::uint64_t at = exec.addresses[index - exec.shape->part.first_slot];
  if (at == kAbsent.value || size == 0) return;
  operands.ranges |= slot.is_range();
  Addr address(at);
  if (!slot.write) {
    if (step.flow != Flow::kReturn) load(thread, seq, slot.role, address, size, operands, shared);
    return;
  }
  if (shared.shared(seq, true, address, size)) {
    shared.write(operands.value, operands.address);
    keep(address, size, {});
  } else {
    keep(address, size, operands.value);
  }
}

void ValueFlow::load(std::size_t thread, Seq seq, Role role, Addr address, std::uint64_t size,
                     Operands& operands, SharedMemory& shared) {
  bool is_shared = shared.shared(seq, false, address, size);
  if (!operands.address.empty()) shared.address(seq, operands.address);
  TagSet set = operands.address;
  if (is_shared) set = sets_.unite(set, TagSets::of(shared.read(operands.address)), thread);
  private_.visit(address, size,
                 [&](Addr, unsigned, TagSet stored) { set = sets_.unite(set, stored, thread); });
  TagSet& kind = role == Role::kAddress     ? operands.address
                 : role == Role::kCondition ? operands.condition
                                            : operands.value;
  kind = sets_.unite(kind, set, thread);
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
    for (Cell cell : code_.cells_of(Reg::kRax)) threads_[thread].cells[cell] = {};
  }
}

}  // namespace svd
