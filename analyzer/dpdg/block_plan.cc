// SPDX-License-Identifier: Apache-2.0
#include "dpdg/block_plan.h"

#include <algorithm>

namespace svd {

const BlockPlans::Plan& BlockPlans::make(const Shape& shape) {
  Plan plan;
  plan.part = std::bit_cast<std::uint64_t>(shape.part);
  plan.sections.first = static_cast<std::uint32_t>(sections_.size());
  open();
  const std::vector<Step>& steps = code_.block(shape.id).steps;
  for (std::uint16_t i = shape.part.first; i < shape.part.end; ++i)
    add_step(shape, steps[i], static_cast<std::uint16_t>(i - shape.part.first));
  close();
  plan.sections.end = static_cast<std::uint32_t>(sections_.size());
  plan.next = plan_of_[shape.id.value];
  plan_of_[shape.id.value] = static_cast<std::uint32_t>(plans_.size());
  plans_.push_back(plan);
  return plans_.back();
}

void BlockPlans::open() {
  auto here = [](auto& range, const auto& all) {
    range.first = static_cast<std::uint32_t>(all.size());
  };
  Section section;
  here(section.arcs, arcs_), here(section.uses, uses_), here(section.accesses, accesses_);
  here(section.saves, saves_), here(section.defs, defs_), here(section.restores, restores_);
  sections_.push_back(section);
  local_.clear();
}

void BlockPlans::close() {
  defs_.insert(defs_.end(), local_.begin(), local_.end());
  auto here = [](auto& range, const auto& all) {
    range.end = static_cast<std::uint32_t>(all.size());
  };
  Section& section = sections_.back();
  here(section.arcs, arcs_), here(section.uses, uses_), here(section.accesses, accesses_);
  here(section.saves, saves_), here(section.defs, defs_), here(section.restores, restores_);
}

const PlannedDef* BlockPlans::local(Cell cell) const {
  auto found = std::find_if(local_.begin(), local_.end(),
                            [cell](const PlannedDef& def) { return def.cell == cell; });
  return found == local_.end() ? nullptr : &*found;
}

void BlockPlans::define(Cell cell, std::uint16_t step) {
  std::erase_if(local_, [cell](const PlannedDef& def) { return def.cell == cell; });
  local_.push_back({cell, step});
}

void BlockPlans::add_step(const Shape& shape, const Step& step, std::uint16_t index) {
  for (CellUse use : code_.uses(step)) {
    const PlannedDef* def = local(use.cell);
    if (def == nullptr)
      uses_.push_back({use.cell, index});
    else if (def->step != kNoData)
      arcs_.push_back({index, def->step});
  }
  add_accesses(shape, step, index);
  bool loads = !accesses_.empty() && accesses_.back().step == index;
  std::uint16_t restored = 0;
  for (CellDef def : code_.defs(step)) {
    if (loads && step.restores && code_.reg_of(def.cell) == step.saved && !def.stack) {
      std::erase_if(local_, [&](const PlannedDef& other) { return other.cell == def.cell; });
      restores_.push_back({def.cell, accesses_.back().access, restored++});
    } else {
      define(def.cell, def.stack ? kNoData : index);
    }
  }
  if (restored != 0) close(), open();
}

void BlockPlans::add_accesses(const Shape& shape, const Step& step, std::uint16_t index) {
  const Part& part = shape.part;
  std::uint16_t end = std::min(step.end_slot, part.end_slot);
  for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
    const Slot& slot = shape.block->slots[s];
    auto access = static_cast<std::uint16_t>(s - part.first_slot);
    bool carries = slot.write || (step.flow != Flow::kReturn && !step.restores);
    accesses_.push_back({access, index, slot.size, slot.write, carries});
    if (!step.saves) continue;
    PlannedSave save{access, 0, {}};
    for (CellUse use : code_.uses(step)) {
      if (code_.reg_of(use.cell) != step.saved || use.role != UseRole::kValue) continue;
      const PlannedDef* def = local(use.cell);
      save.cells[save.count++] = {use.cell, def == nullptr ? kBefore : def->step};
    }
    saves_.push_back(save);
  }
}

}  // namespace svd
