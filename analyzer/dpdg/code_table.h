// SPDX-License-Identifier: Apache-2.0
//
// Every static instruction that a trace executed, compiled once into what the passes over its
// executions need: which cells of the register file it uses and defines, which memory slots it has,
// and what it means for control.
//
// A cell is a part of a register that all instructions of this trace write as a whole: where
// nothing ever writes `al` alone, rax is one cell. That is exact, and a third of the work of fixed
// lanes. Uses of the stack pointer as such are left out, and its definitions by push, call and the
// like are marked: chains through them are why binary slices explode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cfg/control_flow.h"
#include "decode/effects.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// A static instruction or statement of the trace; the same code met at the start of one block and
// in the middle of another is one.
using InstrId = Name<struct InstrTag, std::uint32_t>;

// Of the register file; below kCellLimit.
using Cell = std::uint16_t;

struct CellUse {
  Cell cell = 0;
  UseRole role = UseRole::kValue;
};

struct CellDef {
  Cell cell = 0;
  bool stack =
      false;  // of the stack pointer, or a frame pointer made from it: follows from no data
};

// One instruction of one block.
struct Step {
  InstrId id{};
  Pc pc{};
  std::uint32_t first_use = 0, end_use = 0;  // into CodeTable::uses()
  std::uint32_t first_def = 0, end_def = 0;  // into CodeTable::defs()
  std::uint16_t first_slot = 0, end_slot = 0;
  Flow flow = Flow::kNext;
  bool branch = false;  // opens a region that ends at post_dominator
  bool joins = false;   // ends regions
  bool copy = false;
  bool saves = false;     // a callee-saved register to the frame
  bool restores = false;  // and back, whenever it ran: see mark_restores
  bool may_restore = false;
  Reg saved{};  // by saves, may_restore: which
  bool known = true;
  Pc post_dominator{};
  std::uint32_t function = kNoFunction;
  StatementId statement{};  // of an abstract block
};

struct CodeBlock {
  std::vector<Step> steps{};
  bool abstract = false;
};

// What a step of machine code means to ControlTracker; a step may have several, in this order.
struct ControlOp {
  enum class Kind : std::uint8_t { kJoin, kBranch, kCall, kReturn, kSave, kRestore, kEnd };
  Pc end{};                // kJoin, kBranch: of the regions
  InstrId id{};            // kRestore; one that may be
  std::uint16_t step = 0;  // of the block
  std::uint16_t slot = 0;  // the stack access of the others
  Kind kind = Kind::kJoin;
  Reg saved{};  // kSave, kRestore
};

// What control is to a block of machine code, in little room: every pass asks for it at each
// execution.
struct BlockControl {
  // Of a plain one: where the regions end that its first step joins, and that its branch opens.
  Pc begin{}, end{};
  std::uint32_t first_op = 0;
  std::uint32_t function = kNoFunction;  // of the first step
  std::uint16_t steps = 0;               // 0: of an abstract block
  bool plain = false;                    // no ops but a join at first and a branch at last
  bool joins = false, branches = false;  // there
};

class CodeTable {
 public:
  // Decodes every block of the trace. Blocks without code, and instructions that cannot be decoded,
  // are told in diagnostics and have no effects but their memory accesses.
  static CodeTable of(const TraceReader& trace, const ControlFlow& flow, Diagnostics& diagnostics);

  const CodeBlock& block(BlockId id) const { return blocks_[id.value]; }
  const BlockControl& control(BlockId id) const { return controls_[id.value]; }
  // By step; the last one is kEnd.
  const ControlOp* ops(const BlockControl& block) const { return &ops_[block.first_op]; }
  std::span<const CellUse> uses(const Step& step) const {
    return std::span(uses_).subspan(step.first_use, step.end_use - step.first_use);
  }
  std::span<const CellDef> defs(const Step& step) const {
    return std::span(defs_).subspan(step.first_def, step.end_def - step.first_def);
  }
  std::size_t cell_count() const { return cell_regs_.size(); }
  Reg reg_of(Cell cell) const { return cell_regs_[cell]; }
  // All cells of a register.
  std::vector<Cell> cells_of(Reg reg) const;
  std::size_t instr_count() const { return instr_pcs_.size(); }
  Pc pc_of(InstrId id) const { return instr_pcs_[id.value]; }
  // The step of that instruction in some block that holds it.
  const Step& step_of(InstrId id) const {
    const Home& home = homes_[id.value];
    return blocks_[home.block.value].steps[home.step];
  }
  struct Home {
    BlockId block{};
    std::uint16_t step = 0;
  };
  const Home& home_of(InstrId id) const { return homes_[id.value]; }

  // Whether all that may_restore do is what a pass over the run finds: by InstrId.
  void mark_restores(const std::vector<bool>& restores);

 private:
  void add_ops(const Step& step, std::uint16_t number);
  void end_ops(BlockControl& block);

  std::vector<CodeBlock> blocks_;
  std::vector<BlockControl> controls_;  // by block
  std::vector<ControlOp> ops_;
  std::vector<CellUse> uses_;
  std::vector<CellDef> defs_;
  std::vector<Reg> cell_regs_;
  std::vector<Pc> instr_pcs_;
  std::vector<Home> homes_;
};

// Made when it is first asked for.
class LazyCodeTable {
 public:
  // All must outlive it.
  LazyCodeTable(const TraceReader& trace, LazyControlFlow& flow, Diagnostics& diagnostics)
      : trace_(trace), flow_(flow), diagnostics_(diagnostics) {}

  const CodeTable& get() {
    if (!code_) code_ = CodeTable::of(trace_, flow_.get(), diagnostics_);
    return *code_;
  }

 private:
  const TraceReader& trace_;
  LazyControlFlow& flow_;
  Diagnostics& diagnostics_;
  std::optional<CodeTable> code_;
};

}  // namespace svd
