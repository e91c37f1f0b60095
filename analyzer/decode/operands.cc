// SPDX-License-Identifier: Apache-2.0
//
// The rules that most instructions follow: explicit operands by Access and lanes, flags, implicit
// registers.
#include <algorithm>

#include "decode/translation.h"

namespace svd {
namespace {

constexpr Lanes lanes_or(Lanes a, Lanes b) { return static_cast<Lanes>(a | b); }

}  // namespace

void Translation::run() {
  InstrEffects& effects = out_.effects();
  bool memory = std::ranges::any_of(operands_, [](auto& op) { return op.type == X86_OP_MEM; });
  effects.atomic = x86_.prefix[0] == X86_PREFIX_LOCK || (insn_.id == X86_INS_XCHG && memory);
  if (!operands_.empty() && is_imm(operands_.size() - 1)) {
    auto imm = static_cast<unsigned>(operands_[operands_.size() - 1].imm & 0xff);
    selection_ = select_lanes(insn_.id, imm, wide());
  }
  if (!special()) plain();
}

void Translation::plain() {
  // The destination last: its address and what it merges are read before it is written.
  for (std::size_t i = 1; i < operands_.size(); ++i) operand(i);
  if (!operands_.empty()) operand(0);
  flags();
  implicit();
  out_.effects().copy = is_copy();
}

bool Translation::reads(std::size_t index) const {
  switch (semantics_.access) {
    case Access::kNothing:
      return false;
    case Access::kWrite:
      return index != 0;
    default:
      return true;
  }
}

bool Translation::writes(std::size_t index) const {
  switch (semantics_.access) {
    case Access::kNothing:
    case Access::kRead:
      return false;
    case Access::kExchange:
      return index < 2;
    default:
      return index == 0;
  }
}

void Translation::operand(std::size_t index) {
  const cs_x86_op& op = operands_[index];
  bool read = reads(index), write = writes(index);
  // The VEX forms of updates name the destination apart from the first source, as does imul.
  bool apart = semantics_.vex || semantics_.special == Special::kMultiply || four_sources();
  if (apart && write && operands_.size() > 2) read = false;
  if (op.type == X86_OP_REG) register_operand(index, read, write);
  if (op.type == X86_OP_MEM && (read || write)) memory_operand(op, read, write);
}

void Translation::register_operand(std::size_t index, bool read, bool write) {
  std::optional<RegPart> found = part(index);
  if (!found) return;
  if (is_vector(found->reg)) {
    if (read) out_.use(found->reg, lanes_read(index, found->lanes));
    if (write) out_.def(found->reg, lanes_written(index, found->lanes));
    return;
  }
  if (read) out_.use(found->reg, inserted(found->lanes));
  if (write) out_.def(found->reg, found->lanes);
}

// pinsrb and pinsrw take a part of the 32-bit register that they name.
Lanes Translation::inserted(Lanes lanes) const {
  switch (insn_.id) {
    case X86_INS_PINSRB:
    case X86_INS_VPINSRB:
      return kByte0;
    case X86_INS_PINSRW:
    case X86_INS_VPINSRW:
      return kWord;
    default:
      return lanes;
  }
}

bool Translation::wide() const {
  for (std::size_t i = 0; i < operands_.size(); ++i)
    if (auto reg = part(i); reg && is_vector(reg->reg) && reg->lanes == kYmm) return true;
  return false;
}

const VectorRow* Translation::lane_row() const {
  bool constant = !operands_.empty() && is_imm(operands_.size() - 1);
  return semantics_.special == Special::kVectorShift && constant ? nullptr : semantics_.lanes;
}

std::size_t Translation::last_register() const {
  for (std::size_t i = operands_.size(); i-- > 0;)
    if (operands_[i].type != X86_OP_IMM) return i;
  return 0;
}

bool Translation::onto_itself() const {
  return vex_ && is_reg(0) && is_reg(1) && operands_.size() > 2 &&
         operands_[0].reg == operands_[1].reg;
}

// FMA4, which AMD had for a while.
bool Translation::four_sources() const {
  return operands_.size() == 4 && !is_imm(3) && semantics_.access == Access::kUpdate;
}

Lanes Translation::lanes_read(std::size_t index, Lanes all) const {
  const VectorRow* row = lane_row();
  bool last = index == last_register() && index != 0;
  if (selection_) {
    Lanes first = index == 0 || onto_itself() ? selection_->kept : selection_->first;
    return static_cast<Lanes>((last ? selection_->source : first) & all);
  }
  // The selector of vblendvpd: the sign of each double.
  if (insn_.id == X86_INS_VBLENDVPD && index == 3) return 0x1a & all;
  if (row == nullptr) return all;
  bool is_wide = wide() && row->wide_source != 0;
  Lanes source = is_wide ? row->wide_source : row->source;
  bool vex3 = operands_.size() > 2 && semantics_.vex;
  if (index == 0) return static_cast<Lanes>(row->keep & all);
  if (last || !vex3) return static_cast<Lanes>(source & all);
  Lanes first = row->vex_first;
  if (onto_itself()) first = static_cast<Lanes>(first & ~(kXmm & ~row->def));
  if (is_wide) first = lanes_or(first, kYmmUpper);
  return static_cast<Lanes>(first & all);
}

Lanes Translation::lanes_written(std::size_t index, Lanes all) const {
  const VectorRow* row = lane_row();
  bool loaded = semantics_.special == Special::kMoveScalar && is_mem(1);
  if (selection_ && !vex_) return selection_->def;
  if (selection_ && onto_itself() && !is_imm(2))
    return wide() ? selection_->def : lanes_or(selection_->def, kYmmUpper);
  if (row == nullptr || index != 0 || loaded || four_sources()) return vex_ ? kYmm : all;
  if (!vex_ || !semantics_.vex) return row->def;
  // What a VEX form takes over from its first source stays when that is the destination.
  return onto_itself() && operands_.size() > 2 ? lanes_or(row->def, kYmmUpper) : kYmm;
}

void Translation::memory_operand(const cs_x86_op& op, bool read, bool write) {
  address(op, UseRole::kAddress);
  std::uint16_t size = semantics_.memory != 0 ? semantics_.memory : op.size;
  if (read) out_.read_memory(size);
  if (write) out_.write_memory(size);
}

void Translation::address(const cs_x86_op& op, UseRole role) {
  std::optional<RegPart> base = reg_part(op.mem.base), index = reg_part(op.mem.index);
  bool stack = base && base->reg == Reg::kRsp && !index && role == UseRole::kAddress;
  if (base) out_.use(base->reg, base->lanes, stack ? UseRole::kStack : role);
  if (index) out_.use(index->reg, index->lanes, role);
  if (auto segment = reg_part(op.mem.segment); segment && role == UseRole::kAddress)
    out_.use(segment->reg, segment->lanes, UseRole::kAddress);
}

void Translation::flags() {
  if (semantics_.flags_read != 0)
    out_.use(
        Reg::kFlags, semantics_.flags_read,
        semantics_.special == Special::kConditionalMove ? UseRole::kCondition : UseRole::kValue);
  out_.def(Reg::kFlags, semantics_.flags_written);
}

void Translation::implicit() {
  // A double holds every 32-bit number.
  bool exact = (insn_.id == X86_INS_CVTSI2SD || insn_.id == X86_INS_VCVTSI2SD) &&
               operands_[operands_.size() - 1].size == 4;
  if (semantics_.rounds && !exact) out_.use(Reg::kMxcsr, kWhole, UseRole::kCondition);
  if (semantics_.implicit == nullptr) return;
  for (const RegPart& part : semantics_.implicit->uses) out_.use(part.reg, part.lanes);
  for (const RegPart& part : semantics_.implicit->defs)
    out_.def(part.reg, vex_ && is_vector(part.reg) ? kYmm : part.lanes);
}

bool Translation::is_copy() const {
  bool move = semantics_.special == Special::kMove || semantics_.special == Special::kMoveScalar;
  return move && operands_.size() == 2 && !is_imm(1);
}

}  // namespace svd
