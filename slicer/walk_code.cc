// SPDX-License-Identifier: Apache-2.0
#include "slicer/walk_code.h"

namespace svd {

WalkCode::WalkCode(const CodeTable& code, std::span<const Block> blocks,
                   const SliceOptions& options) {
  for (std::size_t reg = 0; reg < kRegCount; ++reg)
    of_reg_.push_back(code.cells_of(static_cast<Reg>(reg)));
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

WalkStep WalkCode::compile(const CodeTable& code, const Step& step, const Block& block,
                           const SliceOptions& options) {
  WalkStep out;
  out.id = step.id;
  out.first_cell = static_cast<std::uint32_t>(cells_.size());
  auto add = [this](Cell cell, std::uint16_t& count) {
    cells_.push_back(cell);
    ++count;
  };
  if (options.data)
    for (CellUse use : code.uses(step))
      if (use.role != UseRole::kAddress) add(use.cell, out.values);
  if (options.data && options.addresses)
    for (CellUse use : code.uses(step))
      if (use.role == UseRole::kAddress) add(use.cell, out.addresses);
  for (CellDef def : code.defs(step)) {
    out.defines |= cell_bit(def.cell);
    if (def.stack) out.without_data |= cell_bit(def.cell);
    if (def.cell >= kFarCell) add(def.cell, out.far);
  }
  out.first_slot = step.first_slot;
  out.end_slot = step.end_slot;
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
