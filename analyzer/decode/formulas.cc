// SPDX-License-Identifier: Apache-2.0
#include "decode/formulas.h"

#include <capstone/capstone.h>

#include "decode/registers.h"

namespace svd {

struct FormulaReader::Impl {
  csh handle = 0;
  cs_insn* insn = nullptr;
};

namespace {

// A general register, all of it or its lower half.
std::optional<Reg> general(x86_reg name) {
  auto part = reg_part(name);
  if (!part || !is_general(part->reg) || part->lanes != kGeneral) return std::nullopt;
  return part->reg;
}

class Reading {
 public:
  explicit Reading(const cs_insn& insn)
      : insn_(insn), operands_(insn.detail->x86.operands, insn.detail->x86.op_count) {}

  Formulas read() {
    if (insn_.detail->x86.addr_size != 8) return {};
    if (insn_.id == X86_INS_PUSH || insn_.id == X86_INS_CALL)
      formulas_.stack = Formulas::Stack::kPush;
    if (insn_.id == X86_INS_POP || insn_.id == X86_INS_RET) formulas_.stack = Formulas::Stack::kPop;
    for (const cs_x86_op& operand : operands_)
      if (operand.type == X86_OP_MEM) formulas_.address = address(operand);
    if (!operands_.empty()) {
      if (operands_[0].type == X86_OP_REG) result();
      store();
    }
    return std::move(formulas_);
  }

 private:
  std::optional<Sum> address(const cs_x86_op& operand) const {
    const x86_op_mem& memory = operand.mem;
    if (memory.segment == X86_REG_FS || memory.segment == X86_REG_GS) return std::nullopt;
    Sum sum{{}, static_cast<std::uint64_t>(memory.disp)};
    if (memory.base == X86_REG_RIP) {
      sum.constant += insn_.address + insn_.size;
    } else if (memory.base != X86_REG_INVALID) {
      auto base = general(memory.base);
      if (!base) return std::nullopt;
      sum.terms.push_back({*base, 1});
    }
    if (memory.index != X86_REG_INVALID) {
      auto index = general(memory.index);
      if (!index) return std::nullopt;
      sum.terms.push_back({*index, static_cast<std::uint64_t>(memory.scale)});
    }
    return sum;
  }

  // A register or a constant as a sum.
  std::optional<Sum> value(const cs_x86_op& operand, std::uint64_t factor) const {
    if (operand.type == X86_OP_IMM)
      return Sum{{}, static_cast<std::uint64_t>(operand.imm) * factor};
    if (operand.type != X86_OP_REG) return std::nullopt;
    auto reg = general(operand.reg);
    if (!reg) return std::nullopt;
    return Sum{{{*reg, factor}}, 0};
  }

  void result() {
    auto reg = general(operands_[0].reg);
    unsigned bytes = operands_[0].size;
    if (!reg || (bytes != 4 && bytes != 8)) return;
    Formulas::Result result{*reg, {}, bytes, false, bytes};
    bool memory = operands_.size() > 1 && operands_[1].type == X86_OP_MEM;
    switch (insn_.id) {
      case X86_INS_MOVSX:
      case X86_INS_MOVSXD:
        result.is_signed = true;
        [[fallthrough]];
      case X86_INS_MOV:
      case X86_INS_MOVABS:
      case X86_INS_MOVZX:
        if (memory)
          result.bytes = operands_[1].size;
        else if (operands_[1].size == bytes)
          result.sum = value(operands_[1], 1);
        if (!memory && !result.sum) return;
        break;
      case X86_INS_POP:
        break;
      case X86_INS_LEA:
        if (!formulas_.address) return;
        result.sum = formulas_.address;
        formulas_.address.reset();  // it is no access
        break;
      case X86_INS_XOR:
        if (operands_[1].type != X86_OP_REG || operands_[1].reg != operands_[0].reg) return;
        result.sum = Sum{};
        break;
      case X86_INS_INC:
        result.sum = Sum{{{*reg, 1}}, 1};
        break;
      case X86_INS_DEC:
        result.sum = Sum{{{*reg, 1}}, ~std::uint64_t{0}};
        break;
      case X86_INS_ADD:
      case X86_INS_SUB: {
        auto other = value(operands_[1], insn_.id == X86_INS_ADD ? 1 : ~std::uint64_t{0});
        if (!other) return;
        other->terms.push_back({*reg, 1});
        result.sum = other;
        break;
      }
      default:
        return;
    }
    formulas_.result = result;
  }

  void store() {
    if (insn_.id == X86_INS_PUSH && operands_[0].type == X86_OP_REG)
      formulas_.stored = general(operands_[0].reg);
    if (insn_.id == X86_INS_MOV && operands_[0].type == X86_OP_MEM &&
        operands_[1].type == X86_OP_REG)
      formulas_.stored = general(operands_[1].reg);
  }

  const cs_insn& insn_;
  std::span<const cs_x86_op> operands_;
  Formulas formulas_;
};

}  // namespace

FormulaReader::FormulaReader() : impl_(std::make_unique<Impl>()) {
  cs_open(CS_ARCH_X86, CS_MODE_64, &impl_->handle);
  cs_option(impl_->handle, CS_OPT_DETAIL, CS_OPT_ON);
  impl_->insn = cs_malloc(impl_->handle);
}

FormulaReader::~FormulaReader() {
  cs_free(impl_->insn, 1);
  cs_close(&impl_->handle);
}

Formulas FormulaReader::read(std::span<const std::uint8_t> code, Pc pc) const {
  const std::uint8_t* at = code.data();
  std::size_t left = code.size();
  std::uint64_t address = pc.value;
  if (!cs_disasm_iter(impl_->handle, &at, &left, &address, impl_->insn)) return {};
  return Reading(*impl_->insn).read();
}

}  // namespace svd
