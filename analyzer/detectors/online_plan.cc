// SPDX-License-Identifier: Apache-2.0
#include "detectors/online_plan.h"

#include <algorithm>

namespace svd {
namespace {

PlannedOp& add(std::vector<PlannedOp>& ops, PlannedOp::Kind kind, std::uint16_t step) {
  return ops.emplace_back(PlannedOp{.kind = kind, .step = step});
}

}  // namespace

void OnlinePlans::make(const Shape& shape, std::vector<PlannedOp>& ops) {
  values_.begin();
  ranges_ = 0;
  const std::vector<Step>& steps = code_.block(shape.id).steps;
  for (std::uint16_t i = shape.part.first; i < shape.part.end && shape.part.end <= steps.size();
       ++i)
    add_step(shape, steps[i], i, ops);
  values_.write([&](PlannedValue into, PlannedValue from) {
    ops.push_back({.kind = PlannedOp::kWrite, .into = into, .a = from});
  });
}

void OnlinePlans::add_step(const Shape& shape, const Step& step, std::uint16_t index,
                           std::vector<PlannedOp>& ops) {
  auto unite = [&](PlannedValue one, PlannedValue other) {
    return values_.unite(one, other, [&](PlannedValue both, PlannedValue a, PlannedValue b) {
      ops.push_back({.kind = PlannedOp::kUnite, .into = both, .a = a, .b = b});
    });
  };
  const PlannedValue nothing = values_.nothing();
  bool abstract = code_.block(shape.id).abstract;
  if (abstract) add(ops, PlannedOp::kBegin, index);
  if (skipper_.meets(step.pc)) add(ops, PlannedOp::kMeet, index).place = step.pc;
  PlannedValue data = nothing, address = nothing, condition = nothing;
  std::vector<PlannedValue> addresses;  // what forms them is checked only
  for (CellUse use : code_.uses(step)) {
    PlannedValue value = values_[use.cell];
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
      PlannedOp& op = add(ops, kind, index);
      op.a = value;
      op.access = static_cast<std::uint16_t>(s - part.first_slot);
      op.range = ranges_;
      return op;
    };
    if (transfers) {
      add_access(PlannedOp::kTransfer, nothing);
    } else if (slot.write) {
      std::vector<PlannedValue> checked = addresses;
      checked.insert(checked.begin(), data);
      checked.push_back(address);
      for (auto value = checked.begin(); value != checked.end(); ++value)
        if (*value != nothing && std::find(checked.begin(), value, *value) == value)
          add_access(PlannedOp::kCheck, *value);
      add_access(PlannedOp::kStore, data);
    } else {
      PlannedOp& op = add_access(PlannedOp::kLoad, into);
      op.into = into = values_.fresh();
    }
    if (slot.is_range()) ++ranges_;
  }
  for (CellDef def : code_.defs(step)) values_[def.cell] = def.stack ? nothing : data;
  if (abstract) {
    PlannedValue decided = unite(data, condition);
    add(ops, PlannedOp::kDecide, index).a = decided;
  } else if (step.flow == Flow::kBranch) {
    if (auto together = skipper_.reconvergence(step.pc)) {
      PlannedOp& op = add(ops, PlannedOp::kBranch, index);
      op.a = condition;
      op.place = *together;
    }
  }
}

}  // namespace svd
