// SPDX-License-Identifier: Apache-2.0
//
// Compiles static blocks: decodes all of them, finds which lanes of each register are ever told
// apart, and translates lanes into cells.
#include "dpdg/code_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include "decode/decoder.h"

namespace svd {
namespace {

// The lanes of each register, cut where some definition cuts them.
class Partition {
 public:
  Partition() {
    for (auto& parts : parts_) parts.assign(1, 0xff);
  }

  void cut(const RegDef& def) {
    std::vector<Lanes>& parts = parts_[static_cast<std::size_t>(def.reg)];
    for (std::size_t i = 0, end = parts.size(); i < end; ++i) {
      auto inside = static_cast<Lanes>(parts[i] & def.lanes);
      auto outside = static_cast<Lanes>(parts[i] & ~def.lanes & existing(def.reg));
      if (inside == 0 || outside == 0) continue;
      parts[i] = inside;
      parts.push_back(outside);
    }
  }

  // Numbers the cells: calls f(register, lanes of the cell).
  template <class F>
  void each(F&& f) const {
    for (std::size_t reg = 0; reg < kRegCount; ++reg)
      for (Lanes lanes : parts_[reg]) f(static_cast<Reg>(reg), lanes);
  }

 private:
  static Lanes existing(Reg reg) {
    if (reg < Reg::kFlags) return kGeneral;
    if (reg == Reg::kFlags) return kCf | kPf | kAf | kZf | kSf | kDf | kOf;
    if (reg >= Reg::kVector && reg < Reg::kMask) return kYmm;
    return kWhole;
  }
  std::array<std::vector<Lanes>, kRegCount> parts_;
};

constexpr std::array kCalleeSaved{Reg::kRbx,
                                  Reg::kRbp,
                                  static_cast<Reg>(12),
                                  static_cast<Reg>(13),
                                  static_cast<Reg>(14),
                                  static_cast<Reg>(15)};

bool is_callee_saved(Reg reg) {
  return std::find(kCalleeSaved.begin(), kCalleeSaved.end(), reg) != kCalleeSaved.end();
}

bool on_stack(const InstrEffects& effects) {
  return std::any_of(effects.uses.begin(), effects.uses.end(), [](const RegUse& use) {
    return use.role == UseRole::kStack || (use.role == UseRole::kAddress && use.reg == Reg::kRbp);
  });
}

// Which callee-saved register a copy stores whole into the frame, or loads whole from it.
std::optional<Reg> stored_register(const InstrEffects& effects) {
  if (!effects.copy || effects.memory.size() != 1 || !effects.memory[0].write ||
      effects.memory[0].size != 8 || !on_stack(effects))
    return {};
  for (const RegUse& use : effects.uses)
    if (use.role == UseRole::kValue && is_callee_saved(use.reg)) return use.reg;
  return {};
}

// leave loads rbp besides what it does to the stack pointer.
std::optional<Reg> loaded_register(const InstrEffects& effects) {
  if (effects.flow != Flow::kNext || effects.memory.size() != 1 || effects.memory[0].write ||
      effects.memory[0].size != 8 || !on_stack(effects))
    return {};
  std::optional<Reg> loaded;
  for (const RegDef& def : effects.defs) {
    if (def.reg == Reg::kRsp) continue;
    if (loaded || !is_callee_saved(def.reg)) return {};
    loaded = def.reg;
  }
  bool leave = loaded == Reg::kRbp && effects.defs.size() == 2;
  return effects.copy || leave ? loaded : std::nullopt;
}

// mov rbp,rsp makes a frame pointer: an address that follows from no data.
bool makes_frame_pointer(const InstrEffects& effects) {
  return effects.copy && effects.memory.empty() && effects.defs.size() == 1 &&
         effects.defs[0].reg == Reg::kRbp && effects.uses.size() == 1 &&
         effects.uses[0].reg == Reg::kRsp;
}

struct Counts {
  std::uint64_t undecodable = 0;
  std::uint64_t without_code = 0;
};

void report(const Counts& counts, Diagnostics& diagnostics) {
  if (counts.without_code != 0)
    diagnostics.add("blocks-without-code", Severity::kNotice, counts.without_code,
                    "executed blocks have no code in the trace; dependences through their "
                    "registers are missing");
  if (counts.undecodable != 0)
    diagnostics.add("undecodable-instructions", Severity::kNotice, counts.undecodable,
                    "instructions could not be decoded; dependences through their registers are "
                    "missing");
}

}  // namespace

CodeTable CodeTable::of(const TraceReader& trace, const ControlFlow& flow,
                        Diagnostics& diagnostics) {
  CodeTable table;
  Decoder decoder;
  Counts counts;
  Partition partition;
  std::vector<std::vector<InstrEffects>> decoded;
  decoded.reserve(trace.blocks().size());
  for (const Block& block : trace.blocks()) {
    decoded.push_back(decoder.decode(block));
    for (const InstrEffects& effects : decoded.back())
      for (const RegDef& def : effects.defs) partition.cut(def);
  }

  std::array<std::vector<std::pair<Lanes, Cell>>, kRegCount> cells;
  partition.each([&](Reg reg, Lanes lanes) {
    auto cell = static_cast<Cell>(table.cell_regs_.size());
    table.cell_regs_.push_back(reg);
    cells[static_cast<std::size_t>(reg)].emplace_back(lanes, cell);
  });
  auto each_cell = [&cells](Reg reg, Lanes lanes, auto&& f) {
    for (auto [mask, cell] : cells[static_cast<std::size_t>(reg)])
      if ((mask & lanes) != 0) f(cell);
  };

  std::unordered_map<std::uint64_t, InstrId> by_pc, by_statement;
  table.blocks_.resize(trace.blocks().size());
  table.controls_.resize(trace.blocks().size());
  for (std::size_t b = 0; b < decoded.size(); ++b) {
    const Block& block = trace.blocks()[b];
    CodeBlock& out = table.blocks_[b];
    BlockControl& control = table.controls_[b];
    control.first_op = static_cast<std::uint32_t>(table.ops_.size());
    out.abstract = block.abstract();
    if (block.size() == 0) ++counts.without_code;
    std::size_t slot = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      Step step;
      step.first_slot = static_cast<std::uint16_t>(slot);
      while (slot < block.slots.size() && block.slots[slot].instruction == i) ++slot;
      step.end_slot = static_cast<std::uint16_t>(slot);
      if (out.abstract) {
        step.statement = block.statements[i];
      } else {
        step.pc = block.instructions[i].pc;
      }
      auto& known = out.abstract ? by_statement : by_pc;
      auto next = InstrId(static_cast<std::uint32_t>(table.instr_pcs_.size()));
      auto [entry, fresh] =
          known.try_emplace(out.abstract ? step.statement.value : step.pc.value, next);
      step.id = entry->second;
      if (fresh) {
        table.instr_pcs_.push_back(step.pc);
        table.homes_.push_back(
            {BlockId(static_cast<std::uint32_t>(b)), static_cast<std::uint16_t>(i)});
      }
      step.first_use = static_cast<std::uint32_t>(table.uses_.size());
      step.first_def = static_cast<std::uint32_t>(table.defs_.size());
      if (!out.abstract && i < decoded[b].size()) {
        const InstrEffects& effects = decoded[b][i];
        if (!effects.known) ++counts.undecodable;
        for (const RegUse& use : effects.uses)
          if (use.role != UseRole::kStack)
            each_cell(use.reg, use.lanes, [&](Cell cell) {
              table.uses_.push_back({cell, use.role});
            });
        bool frame_pointer = makes_frame_pointer(effects);
        for (const RegDef& def : effects.defs)
          each_cell(def.reg, def.lanes, [&](Cell cell) {
            table.defs_.push_back({cell, def.stack || frame_pointer});
          });
        step.flow = effects.flow;
        step.copy = effects.copy;
        step.known = effects.known;
        if (auto reg = stored_register(effects)) step.saves = true, step.saved = *reg;
        if (auto reg = loaded_register(effects)) step.may_restore = true, step.saved = *reg;
        ControlFlow::Point point = flow.at(step.pc);
        step.branch = point.branch;
        step.joins = point.joins;
        step.post_dominator = point.post_dominator;
        step.function = point.function;
      }
      step.end_use = static_cast<std::uint32_t>(table.uses_.size());
      step.end_def = static_cast<std::uint32_t>(table.defs_.size());
      if (!out.abstract) table.add_ops(step, static_cast<std::uint16_t>(i));
      out.steps.push_back(step);
    }
    if (!out.abstract) control.steps = static_cast<std::uint16_t>(out.steps.size());
    table.end_ops(control);
    if (!out.steps.empty()) control.function = out.steps.front().function;
  }
  report(counts, diagnostics);
  return table;
}

void CodeTable::add_ops(const Step& step, std::uint16_t number) {
  using Kind = ControlOp::Kind;
  auto add = [&](Kind kind, Pc end) {
    auto slot = static_cast<std::uint16_t>(step.end_slot - 1);
    ops_.push_back({end, step.id, number, slot, kind, step.saved});
  };
  if (step.joins) add(Kind::kJoin, step.pc);
  if (step.branch) add(Kind::kBranch, step.post_dominator);
  // The stack access of a call is its last one; returns and saves have only one.
  if (step.first_slot == step.end_slot) return;
  if (step.flow == Flow::kCall || step.flow == Flow::kIndirectCall)
    add(Kind::kCall, {});
  else if (step.flow == Flow::kReturn)
    add(Kind::kReturn, {});
  else if (step.saves)
    add(Kind::kSave, {});
  else if (step.may_restore)
    add(Kind::kRestore, {});
}

void CodeTable::end_ops(BlockControl& block) {
  using Kind = ControlOp::Kind;
  auto op = ops_.begin() + block.first_op;
  block.joins = op != ops_.end() && op->step == 0 && op->kind == Kind::kJoin;
  if (block.joins) block.begin = (op++)->end;
  block.branches = op != ops_.end() && op->step + 1 == block.steps && op->kind == Kind::kBranch;
  if (block.branches) block.end = (op++)->end;
  block.plain = op == ops_.end();
  ops_.push_back({.step = std::numeric_limits<std::uint16_t>::max(), .kind = Kind::kEnd});
}

std::vector<Cell> CodeTable::cells_of(Reg reg) const {
  std::vector<Cell> cells;
  for (std::size_t cell = 0; cell < cell_regs_.size(); ++cell)
    if (cell_regs_[cell] == reg) cells.push_back(static_cast<Cell>(cell));
  return cells;
}

void CodeTable::mark_restores(const std::vector<bool>& restores) {
  for (CodeBlock& block : blocks_)
    for (Step& step : block.steps) step.restores = step.may_restore && restores[step.id.value];
}

}  // namespace svd
