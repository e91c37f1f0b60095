// SPDX-License-Identifier: Apache-2.0
#include "cu/flow_plan.h"

#include <algorithm>

namespace svd {

void FlowPlans::make(const Shape& shape, std::vector<FlowOp>& ops) {
  values_.begin();
  ranges_ = 0;
  std::size_t steps = code_.block(shape.id).steps.size();
  for (std::uint16_t i = shape.part.first; i < shape.part.end && shape.part.end <= steps; ++i)
    add_step(shape, i, ops);
  values_.write([&](PlannedValue into, PlannedValue from) {
    ops.push_back({.kind = FlowOp::kWrite, .into = into, .a = from});
  });
}

void FlowPlans::add_step(const Shape& shape, std::uint16_t index, std::vector<FlowOp>& ops) {
  const Step& step = code_.block(shape.id).steps[index];
  const Part& part = shape.part;
  auto unite = [&](PlannedValue& into, PlannedValue value) {
    into = values_.unite(into, value, [&](PlannedValue both, PlannedValue a, PlannedValue b) {
      ops.push_back({.kind = FlowOp::kUnite, .into = both, .a = a, .b = b});
    });
  };
  Operands operands{values_.nothing(), values_.nothing(), values_.nothing()};
  for (CellUse use : code_.uses(step)) {
    PlannedValue& kind = use.role == UseRole::kAddress                    ? operands.address
                         : use.role == UseRole::kCondition && step.branch ? operands.condition
                                                                          : operands.value;
    unite(kind, values_[use.cell]);
  }
  PlannedValue registers = operands.value;
  if (part.first_slot > step.first_slot && part.first_slot < step.end_slot) {
    unite(operands.value, values_[carried_value()]);
    unite(operands.address, values_[carried_address()]);
  }
  bool any_range = add_accesses(shape, index, operands, ops);
  if (part.end_slot < step.end_slot) {
    values_[carried_value()] = operands.value;
    values_[carried_address()] = operands.address;
  }
  PlannedValue result = operands.value;
  if (any_range) {
    result = values_.fresh();
    ops.push_back({.kind = FlowOp::kRanges, .into = result, .a = operands.value, .b = registers});
  }
  for (CellDef def : code_.defs(step))
    values_[def.cell] =
        def.stack || code_.reg_of(def.cell) == Reg::kMxcsr ? values_.nothing() : result;
  if (step.flow == Flow::kIndirectJump || step.flow == Flow::kIndirectCall)
    operands.condition = operands.value;
  if (step.branch || operands.condition != values_.nothing())
    ops.push_back({.kind = FlowOp::kDecide, .step = index, .a = operands.condition});
}

// Whether one of them is to a range.
bool FlowPlans::add_accesses(const Shape& shape, std::uint16_t index, Operands& operands,
                             std::vector<FlowOp>& ops) {
  const Step& step = code_.block(shape.id).steps[index];
  const Part& part = shape.part;
  bool any_range = false;
  std::uint16_t end = std::min(step.end_slot, part.end_slot);
  for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
    const Slot& slot = shape.block->slots[s];
    FlowOp op{.kind = slot.write ? FlowOp::kStore : FlowOp::kLoad,
              .is_range = slot.is_range(),
              .step = index,
              .a = operands.value,
              .b = operands.address,
              .access = static_cast<std::uint16_t>(s - part.first_slot),
              .length = slot.is_range() ? ranges_++ : slot.size};
    any_range |= op.is_range;
    if (!slot.write) {
      if (step.flow == Flow::kReturn) continue;  // where it goes to is no data
      PlannedValue& kind = slot.role == Role::kAddress     ? operands.address
                           : slot.role == Role::kCondition ? operands.condition
                                                           : operands.value;
      op.a = kind;
      op.into = kind = values_.fresh();
    }
    ops.push_back(op);
  }
  return any_range;
}

}  // namespace svd
