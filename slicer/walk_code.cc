// SPDX-License-Identifier: Apache-2.0
#include "slicer/walk_code.h"

#include <algorithm>

namespace svd {

WalkCode::WalkCode(const CodeTable& code, std::span<const Block> blocks,
                   const SliceOptions& options)
    : cells_(code.cell_count()) {
  for (std::size_t reg = 0; reg < kRegCount; ++reg)
    of_reg_.push_back(code.cells_of(static_cast<Reg>(reg)));
  number_registers();
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    first_.push_back(steps_.size());
    std::uint64_t defines = 0;
    for (const Step& step : code.block(BlockId(b)).steps) {
      steps_.push_back(compile(code, step, blocks[b], options));
      defines |= steps_.back().defines;
    }
    defines_.push_back(defines);
  }
  first_.push_back(steps_.size());
}

void WalkCode::number_registers() {
  for (const std::vector<Cell>& all : of_reg_) {
    std::uint64_t bits = 0;
    for (Cell cell : all) {
      if (cell >= kFarCell) break;
      near_register_[cell] = static_cast<std::uint8_t>(near_cells_.size());
      bits |= cell_bit(cell);
    }
    if (bits != 0) near_cells_.push_back(bits);
  }
}

// Cells of one register become one use.
void WalkCode::add_use(Cell cell, std::uint32_t first, std::uint16_t& count) {
  bool far = cell >= kFarCell;
  CellSet use = far ? CellSet{cell, kFarRegister} : CellSet{cell_bit(cell), near_register_[cell]};
  for (std::size_t i = first; i < uses_.size() && !far; ++i)
    if (uses_[i].reg == use.reg) return void(uses_[i].cells |= use.cells);
  uses_.push_back(use);
  ++count;
}

WalkStep WalkCode::compile(const CodeTable& code, const Step& step, const Block& block,
                           const SliceOptions& options) {
  WalkStep out;
  out.id = step.id;
  out.first_use = static_cast<std::uint32_t>(uses_.size());
  out.first_far = static_cast<std::uint32_t>(far_.size());
  if (options.data)
    for (CellUse use : code.uses(step))
      if (use.role != UseRole::kAddress) add_use(use.cell, out.first_use, out.values);
  if (options.data && options.addresses)
    for (CellUse use : code.uses(step))
      if (use.role == UseRole::kAddress)
        add_use(use.cell, out.first_use + out.values, out.addresses);
  for (CellDef def : code.defs(step)) {
    out.defines |= cell_bit(def.cell);
    if (def.stack) out.without_data |= cell_bit(def.cell);
    if (def.cell >= kFarCell) far_.push_back(def.cell), ++out.far;
  }
  out.first_slot = step.first_slot;
  out.end_slot = step.end_slot;
  most_slots_ = std::max<std::size_t>(most_slots_, step.end_slot - step.first_slot);
  for (std::uint16_t s = step.first_slot; s < step.end_slot; ++s) {
    const Slot& slot = block.slots[s];
    out.writes = out.writes || slot.write;
    out.reads = out.reads || (!slot.write && options.data && step.flow != Flow::kReturn);
  }
  out.restores = step.restores && options.save_restore;
  out.reads = out.reads && !out.restores;  // that is wanted by who wants the register
  out.saved = step.saved;
  out.saves = step.saves;
  out.calls = step.flow == Flow::kCall || step.flow == Flow::kIndirectCall;
  out.returns = step.flow == Flow::kReturn;
  return out;
}

}  // namespace svd
