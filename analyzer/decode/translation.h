// SPDX-License-Identifier: Apache-2.0
//
// One decoded instruction on its way to effects: Capstone's operands under the rules of its
// Semantics.
#pragma once

#include <capstone/capstone.h>

#include <span>

#include "decode/effects_builder.h"
#include "decode/lane_selection.h"
#include "decode/semantics.h"

namespace svd {

class Translation {
 public:
  Translation(const cs_insn& insn, const Semantics& semantics, InstrEffects& effects)
      : insn_(insn),
        x86_(insn.detail->x86),
        operands_(x86_.operands, x86_.op_count),
        semantics_(semantics),
        out_(effects) {
    vex_ = insn.mnemonic[0] == 'v';
  }

  void run();

 private:
  // operands.cc: what is plain.
  void plain();
  void operand(std::size_t index);
  void register_operand(std::size_t index, bool read, bool write);
  void memory_operand(const cs_x86_op& op, bool read, bool write);
  void address(const cs_x86_op& op, UseRole plain_role);
  void flags();
  void implicit();
  bool reads(std::size_t index) const;
  bool writes(std::size_t index) const;
  Lanes lanes_read(std::size_t index, Lanes all) const;
  Lanes lanes_written(std::size_t index, Lanes all) const;
  std::size_t last_register() const;
  bool is_copy() const;
  bool four_sources() const;
  bool onto_itself() const;  // a VEX form whose destination is its first source
  bool wide() const;         // on ymm registers
  const VectorRow* lane_row() const;
  Lanes inserted(Lanes lanes) const;

  // specials.cc: what is not.
  bool special();  // false: the plain rules hold, perhaps with what was added
  void stack_use() { out_.use(Reg::kRsp, kGeneral, UseRole::kStack); }
  void stack_update();
  void push();
  void pop();
  void call();
  void jump(Flow direct, Flow indirect);
  void branch(Flow flow);
  void lea();
  bool stack_arithmetic();
  bool vector_constant();
  bool borrow_alone();
  void narrow_source(std::size_t index);
  bool bit_test();
  void shift();
  void string();
  void multiply();
  void divide();
  void compare_exchange();
  void x87();
  void state();
  void masked_move();
  void gather();
  void translate();
  void enter();
  void multiply_apart();
  std::uint16_t string_size() const;
  void all_vectors(Lanes lanes, bool read, bool write);

  bool is_reg(std::size_t index) const {
    return index < operands_.size() && operands_[index].type == X86_OP_REG;
  }
  bool is_mem(std::size_t index) const {
    return index < operands_.size() && operands_[index].type == X86_OP_MEM;
  }
  bool is_imm(std::size_t index) const {
    return index < operands_.size() && operands_[index].type == X86_OP_IMM;
  }
  std::optional<RegPart> part(std::size_t index) const {
    return is_reg(index) ? reg_part(operands_[index].reg) : std::nullopt;
  }

  const cs_insn& insn_;
  const cs_x86& x86_;
  std::span<const cs_x86_op> operands_;
  const Semantics& semantics_;
  bool vex_ = false;
  std::optional<LaneSelection> selection_;
  EffectsBuilder out_;
};

}  // namespace svd
