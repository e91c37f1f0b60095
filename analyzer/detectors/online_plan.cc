// SPDX-License-Identifier: Apache-2.0
#include "detectors/online_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "svd/trace/result.h"

namespace svd {

OnlinePlans::OnlinePlans(const CodeTable& code, const Skipper& skipper)
    : code_(code), skipper_(skipper), values_(code.cell_count() + 1) {}

const OnlinePlans::Plan& OnlinePlans::make(const Shape& shape) {
  Plan plan;
  plan.part = std::bit_cast<std::uint64_t>(shape.part);
  plan.first = static_cast<std::uint32_t>(ops_.size());
  cells_.resize(code_.cell_count());
  std::iota(cells_.begin(), cells_.end(), PlannedValue{0});
  united_.clear();
  next_value_ = static_cast<PlannedValue>(nothing() + 1);
  ranges_ = 0;
  const std::vector<Step>& steps = code_.block(shape.id).steps;
  for (std::uint16_t i = shape.part.first; i < shape.part.end && shape.part.end <= steps.size();
       ++i)
    add_step(shape, steps[i], i);
  write_registers();
  values_ = std::max<std::size_t>(values_, next_value_);
  plan.end = static_cast<std::uint32_t>(ops_.size());
  plan.next = plan_of_[shape.id.value];
  plan_of_[shape.id.value] = static_cast<std::uint32_t>(plans_.size());
  plans_.push_back(plan);
  return plans_.back();
}

void OnlinePlans::add_step(const Shape& shape, const Step& step, std::uint16_t index) {
  bool abstract = code_.block(shape.id).abstract;
  if (abstract) add(PlannedOp::kBegin, index);
  if (skipper_.meets(step.pc)) add(PlannedOp::kMeet, index).place = step.pc;
  PlannedValue data = nothing(), address = nothing(), condition = nothing();
  std::vector<PlannedValue> addresses;  // what forms them is checked only
  for (CellUse use : code_.uses(step)) {
    PlannedValue value = cells_[use.cell];
    if (use.role == UseRole::kAddress) {
      addresses.push_back(value);
    } else {
      bool decides = use.role == UseRole::kCondition && step.branch;
      PlannedValue& into = decides ? condition : data;
      into = unite(into, value);
    }
  }
  bool transfers =
      step.flow == Flow::kCall || step.flow == Flow::kIndirectCall || step.flow == Flow::kReturn;
  const Part& part = shape.part;
  std::uint16_t end = std::min(step.end_slot, part.end_slot);
  for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
    const Slot& slot = shape.block->slots[s];
    PlannedValue& into = slot.role == Role::kAddress     ? address
                         : slot.role == Role::kCondition ? condition
                                                         : data;
    auto add_access = [&](PlannedOp::Kind kind, PlannedValue value) -> PlannedOp& {
      PlannedOp& op = add(kind, index);
      op.a = value;
      op.access = static_cast<std::uint16_t>(s - part.first_slot);
      op.range = ranges_;
      return op;
    };
    if (transfers) {
      add_access(PlannedOp::kTransfer, nothing());
    } else if (slot.write) {
      std::vector<PlannedValue> checked = addresses;
      checked.insert(checked.begin(), data);
      checked.push_back(address);
      for (auto value = checked.begin(); value != checked.end(); ++value)
        if (*value != nothing() && std::find(checked.begin(), value, *value) == value)
          add_access(PlannedOp::kCheck, *value);
      add_access(PlannedOp::kStore, data);
    } else {
      PlannedOp& op = add_access(PlannedOp::kLoad, into);
      op.into = into = fresh();
    }
    if (slot.is_range()) ++ranges_;
  }
  for (CellDef def : code_.defs(step)) cells_[def.cell] = def.stack ? nothing() : data;
  if (abstract) {
    PlannedValue decided = unite(data, condition);
    add(PlannedOp::kDecide, index).a = decided;
  } else if (step.flow == Flow::kBranch) {
    if (auto together = skipper_.reconvergence(step.pc)) {
      PlannedOp& op = add(PlannedOp::kBranch, index);
      op.a = condition;
      op.place = *together;
    }
  }
}

// All at once: a register that another one gets may get something else before.
void OnlinePlans::write_registers() {
  std::size_t first = ops_.size();
  std::map<PlannedValue, PlannedValue> kept;
  for (PlannedValue cell = 0; cell != nothing(); ++cell) {
    PlannedValue value = cells_[cell];
    if (value == cell) continue;
    bool changes = value < cells_.size() && cells_[value] != value;
    if (changes && !kept.contains(value)) kept[value] = fresh();
    PlannedOp& op = add(PlannedOp::kWrite, 0);
    op.into = cell;
    op.a = changes ? kept[value] : value;
  }
  for (auto [cell, value] : kept) {
    PlannedOp op{.kind = PlannedOp::kWrite, .into = value, .a = cell};
    ops_.insert(ops_.begin() + static_cast<std::ptrdiff_t>(first), op);
  }
}

// Once more of the same two is the same: units only become fewer.
PlannedValue OnlinePlans::unite(PlannedValue a, PlannedValue b) {
  if (a == b || b == nothing()) return a;
  if (a == nothing()) return b;
  auto [known, added] = united_.try_emplace(std::minmax(a, b), PlannedValue{0});
  if (!added) return known->second;
  known->second = fresh();
  PlannedOp& op = add(PlannedOp::kUnite, 0);
  op.into = known->second;
  op.a = a;
  op.b = b;
  return known->second;
}

PlannedValue OnlinePlans::fresh() {
  SVD_CHECK(next_value_ < std::numeric_limits<PlannedValue>::max());
  return next_value_++;
}

PlannedOp& OnlinePlans::add(PlannedOp::Kind kind, std::uint16_t step) {
  PlannedOp op;
  op.kind = kind;
  op.step = step;
  return ops_.emplace_back(op);
}

}  // namespace svd
