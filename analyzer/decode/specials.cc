// SPDX-License-Identifier: Apache-2.0
//
// Instructions that the plain rules do not describe.
#include "decode/translation.h"

namespace svd {
namespace {

constexpr Lanes kArithmetic = kCf | kPf | kAf | kZf | kSf | kOf;
constexpr Lanes kAllFlags = kArithmetic | kDf;

}  // namespace

bool Translation::special() {
  switch (semantics_.special) {
    case Special::kLea:
      lea();
      return true;
    case Special::kTouch:
      address(operands_[0], UseRole::kAddress);
      return true;
    case Special::kPush:
      push();
      return true;
    case Special::kPop:
      pop();
      return true;
    case Special::kPushFlags:
      stack_update();
      flags();
      out_.write_memory(8);
      return true;
    case Special::kPopFlags:
      stack_update();
      out_.read_memory(8);
      flags();
      return true;
    case Special::kLeave:
      out_.use(Reg::kRbp, kGeneral, UseRole::kStack);
      out_.read_memory(8);
      out_.def(Reg::kRsp, kGeneral, true);
      out_.def(Reg::kRbp, kGeneral);
      return true;
    case Special::kJump:
      jump(Flow::kJump, Flow::kIndirectJump);
      return true;
    case Special::kBranch:
      out_.use(Reg::kFlags, semantics_.flags_read, UseRole::kCondition);
      implicit();
      branch(Flow::kBranch);
      return true;
    case Special::kCountedBranch: {
      bool counts = insn_.mnemonic[0] == 'l';
      out_.use(Reg::kRcx, kGeneral, UseRole::kCondition);
      if (counts) out_.def(Reg::kRcx, kGeneral);
      out_.use(Reg::kFlags, semantics_.flags_read, UseRole::kCondition);
      branch(Flow::kBranch);
      return true;
    }
    case Special::kCall:
      call();
      return true;
    case Special::kReturn:
      stack_update();
      out_.read_memory(8);
      branch(Flow::kReturn);
      return true;
    case Special::kString:
      string();
      return true;
    case Special::kShift:
      shift();
      return false;
    case Special::kShiftFree:
      narrow_source(2);
      return true;
    case Special::kBitTest:
      return bit_test();
    case Special::kBitScan:
      if (auto destination = part(0)) out_.use(destination->reg, destination->lanes);
      return false;
    case Special::kMultiply:
      if (operands_.size() == 1) {
        multiply();
        return true;
      }
      return false;
    case Special::kDivide:
      divide();
      return true;
    case Special::kCompareExchange:
      compare_exchange();
      return false;
    case Special::kAddSubtract:
      return stack_arithmetic();
    case Special::kMoveScalar:
      if (is_mem(0) && is_mem(1))
        string();
      else
        break;
      return true;
    case Special::kSystemCall:
      out_.use(Reg::kRax, kGeneral);
      out_.use(Reg::kFlags, kAllFlags);
      out_.def(Reg::kRax, kGeneral);
      out_.def(Reg::kRcx, kGeneral);
      out_.def(general_reg(11), kGeneral);
      out_.effects().flow = Flow::kSystemCall;
      return true;
    case Special::kTrap:
      out_.effects().flow = Flow::kTrap;
      return true;
    case Special::kState:
      state();
      return true;
    case Special::kVectorClear:
      all_vectors(insn_.id == X86_INS_VZEROALL ? kYmm : kYmmUpper, false, true);
      return true;
    case Special::kX87:
      x87();
      return true;
    case Special::kGather:
      gather();
      return true;
    case Special::kTranslate:
      translate();
      return true;
    case Special::kEnter:
      enter();
      return true;
    case Special::kMultiplyApart:
      multiply_apart();
      return true;
    case Special::kMaskedMove:
      masked_move();
      return true;
    case Special::kZeroing:
      return vector_constant();
    case Special::kSubtractBorrow:
      return borrow_alone();
    default:
      break;
  }
  if (insn_.id == X86_INS_CMPSD && is_mem(0) && is_mem(1)) {
    string();
    return true;
  }
  return false;
}

void Translation::stack_update() {
  stack_use();
  out_.def(Reg::kRsp, kGeneral, true);
}

void Translation::push() {
  if (is_reg(0) || is_mem(0)) operand(0);
  stack_update();
  out_.write_memory(is_imm(0) ? 8 : operands_[0].size);
  out_.effects().copy = !is_imm(0);
}

void Translation::pop() {
  stack_update();
  out_.read_memory(operands_[0].size);
  operand(0);
  out_.effects().copy = true;
}

void Translation::branch(Flow flow) {
  out_.effects().flow = flow;
  if (is_imm(0) && flow != Flow::kReturn)
    out_.effects().target = Pc{static_cast<std::uint64_t>(operands_[0].imm)};
}

void Translation::jump(Flow direct, Flow indirect) {
  if (auto target = part(0)) out_.use(target->reg, target->lanes, UseRole::kCondition);
  if (is_mem(0)) memory_operand(operands_[0], true, false);
  branch(is_imm(0) ? direct : indirect);
}

void Translation::call() {
  jump(Flow::kCall, Flow::kIndirectCall);
  stack_update();
  out_.write_memory(8);
}

void Translation::lea() {
  auto destination = part(0);
  if (!destination) return;
  bool stack = destination->reg == Reg::kRsp && operands_[1].mem.index == X86_REG_INVALID;
  address(operands_[1], stack ? UseRole::kStack : UseRole::kValue);
  out_.def(destination->reg, destination->lanes, stack);
}

// A constant added to rsp or masked from it; and constants that make the result one.
bool Translation::stack_arithmetic() {
  auto destination = part(0);
  if (!destination) return false;
  if (is_imm(1)) {
    unsigned unused_bits = 64 - 8U * operands_[0].size;
    std::int64_t value = operands_[1].imm << unused_bits >> unused_bits;
    bool constant =
        (insn_.id == X86_INS_AND && value == 0) || (insn_.id == X86_INS_OR && value == -1);
    bool stack = destination->reg == Reg::kRsp && insn_.id != X86_INS_XOR;
    if (!constant && !stack) return false;
    if (stack) stack_use();
    out_.def(destination->reg, destination->lanes, stack);
    flags();
    return true;
  }
  if (!is_reg(1) || operands_[0].reg != operands_[1].reg ||
      (insn_.id != X86_INS_XOR && insn_.id != X86_INS_SUB))
    return false;
  out_.def(destination->reg, destination->lanes);
  flags();
  return true;
}

// Of the source at `index` only the low byte matters, or two for bextr.
void Translation::narrow_source(std::size_t index) {
  for (std::size_t i = operands_.size(); i-- > 0;)
    if (i != index) operand(i);
  if (auto source = part(index)) out_.use(source->reg, insn_.id == X86_INS_BEXTR ? kWord : kByte0);
  flags();
}

// A bit offset in a register is taken modulo the size of a register; of a memory operand it moves
// the address.
bool Translation::bit_test() {
  if (is_imm(1)) return false;
  if (is_reg(0)) {
    narrow_source(1);
    return true;
  }
  if (auto offset = part(1)) out_.use(offset->reg, offset->lanes, UseRole::kAddress);
  return false;
}

// The same register twice: the result is a constant.
bool Translation::vector_constant() {
  std::size_t count = operands_.size();
  if (count < 2 || !is_reg(count - 1) || !is_reg(count - 2) ||
      operands_[count - 1].reg != operands_[count - 2].reg)
    return false;
  register_operand(0, false, true);
  return true;
}

// sbb r,r spreads the carry, and leaves it as it is.
bool Translation::borrow_alone() {
  if (!is_reg(0) || !is_reg(1) || operands_[0].reg != operands_[1].reg) return false;
  register_operand(0, false, true);
  out_.use(Reg::kFlags, kCf);
  out_.def(Reg::kFlags, kArithmetic & ~kCf);
  return true;
}

// The flags stay when the count is 0, as one in cl may be.
void Translation::shift() {
  const cs_x86_op& count = operands_[operands_.size() - 1];
  bool by_one = operands_.size() == 1;
  std::int64_t mask = operands_[0].size == 8 ? 63 : 31;
  if (!by_one && (count.type != X86_OP_IMM || (count.imm & mask) == 0))
    out_.use(Reg::kFlags, semantics_.flags_written);
}

// rdx:rax or ax, of the size of the one operand.
void Translation::multiply() {
  operand(0);
  std::uint8_t size = operands_[0].size;
  // The access of the two-operand form does not hold for this one.
  InstrEffects& effects = out_.effects();
  effects.defs.clear();
  std::erase_if(effects.memory, [](const MemoryOperand& memory) { return memory.write; });
  Lanes lanes = size == 1 ? kByte0 : size == 2 ? kWord : kGeneral;
  out_.use(Reg::kRax, lanes);
  out_.def(Reg::kRax, size == 1 ? kWord : lanes);
  if (size != 1) out_.def(Reg::kRdx, lanes);
  flags();
}

// mulx: both destinations, the operand and rdx.
void Translation::multiply_apart() {
  register_operand(0, false, true);
  register_operand(1, false, true);
  operand(2);
  implicit();
}

void Translation::divide() {
  operand(0);
  std::uint8_t size = operands_[0].size;
  Lanes lanes = size <= 2 ? kWord : kGeneral;
  out_.maybe_def(Reg::kRax, lanes);
  if (size != 1) out_.maybe_def(Reg::kRdx, lanes);
  flags();
}

// The accumulator is compared, and gets the old value when it differs.
void Translation::compare_exchange() {
  Lanes lanes = operands_[0].size == 1 ? kByte0 : operands_[0].size == 2 ? kWord : kGeneral;
  out_.maybe_def(Reg::kRax, lanes);
}

}  // namespace svd
