// SPDX-License-Identifier: Apache-2.0
#include "oracle/explanations.h"

#include <algorithm>
#include <string_view>

#include "oracle/zydis_view.h"

namespace svd::test {
namespace {

bool is_extra(const Difference& difference) {
  return difference.claim == Claim::kExtraRead || difference.claim == Claim::kExtraWrite;
}

bool is_any(const HardwareResult& result, std::initializer_list<ZydisMnemonic> mnemonics) {
  return std::ranges::find(mnemonics, result.instruction.instruction.mnemonic) != mnemonics.end();
}

bool is_memory(const Difference& difference) { return difference.reg == Reg::kCount; }

// The flags that the manuals call undefined after an instruction, which a processor may leave.
struct UndefinedFlags {
  ZydisMnemonic mnemonic;
  Lanes flags;
};

constexpr Lanes kAllButCarry = kPf | kAf | kZf | kSf | kOf;
constexpr UndefinedFlags kUndefinedFlags[] = {
    {ZYDIS_MNEMONIC_DIV, kAllButCarry | kCf},
    {ZYDIS_MNEMONIC_IDIV, kAllButCarry | kCf},
    {ZYDIS_MNEMONIC_MUL, kPf | kAf | kZf | kSf},
    {ZYDIS_MNEMONIC_IMUL, kPf | kAf | kZf | kSf},
    {ZYDIS_MNEMONIC_BT, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_BTS, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_BTR, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_BTC, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_BSF, kCf | kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_BSR, kCf | kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_TZCNT, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_LZCNT, kPf | kAf | kSf | kOf},
    {ZYDIS_MNEMONIC_SHL, kAf | kOf},
    {ZYDIS_MNEMONIC_SHR, kAf | kOf},
    {ZYDIS_MNEMONIC_SAR, kAf | kOf},
    {ZYDIS_MNEMONIC_ROL, kOf},
    {ZYDIS_MNEMONIC_ROR, kOf},
    {ZYDIS_MNEMONIC_SHLD, kAf | kOf},
    {ZYDIS_MNEMONIC_SHRD, kAf | kOf},
    {ZYDIS_MNEMONIC_BEXTR, kPf | kAf | kSf},
    {ZYDIS_MNEMONIC_BZHI, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSI, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSR, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSMSK, kPf | kAf},
    {ZYDIS_MNEMONIC_ANDN, kPf | kAf},
};

// Then the overflow flag of a shift or rotation is defined.
bool by_one(const ZydisDecodedInstruction& instruction) {
  return instruction.opcode == 0xd0 || instruction.opcode == 0xd1 ||
         ((instruction.opcode == 0xc0 || instruction.opcode == 0xc1) &&
          instruction.raw.imm[0].value.u == 1);
}

bool undefined_flags(const HardwareResult& result, const Difference& difference) {
  // Some processors set them, some make them of what they were.
  if (difference.claim != Claim::kExtraWrite && difference.claim != Claim::kMissingRead)
    return false;
  if (difference.reg != Reg::kFlags) return false;
  for (const UndefinedFlags& row : kUndefinedFlags)
    if (result.instruction.instruction.mnemonic == row.mnemonic) {
      Lanes undefined = row.flags;
      if (by_one(result.instruction.instruction)) undefined &= static_cast<Lanes>(~kOf);
      return (difference.lanes & ~undefined) == 0;
    }
  return false;
}

// Moves and shuffles from a register to itself leave parts of it in their places.
bool onto_itself(const HardwareResult& result, const Difference& difference) {
  if (!is_extra(difference) || is_memory(difference)) return false;
  if (!is_any(
          result,
          {ZYDIS_MNEMONIC_MOV,          ZYDIS_MNEMONIC_MOVZX,        ZYDIS_MNEMONIC_MOVSX,
           ZYDIS_MNEMONIC_MOVSXD,       ZYDIS_MNEMONIC_LEA,          ZYDIS_MNEMONIC_XCHG,
           ZYDIS_MNEMONIC_PSHUFD,       ZYDIS_MNEMONIC_PSHUFLW,      ZYDIS_MNEMONIC_PSHUFHW,
           ZYDIS_MNEMONIC_PUNPCKHDQ,    ZYDIS_MNEMONIC_PUNPCKHQDQ,   ZYDIS_MNEMONIC_UNPCKHPD,
           ZYDIS_MNEMONIC_UNPCKHPS,     ZYDIS_MNEMONIC_MOVAPS,       ZYDIS_MNEMONIC_MOVAPD,
           ZYDIS_MNEMONIC_MOVDQA,       ZYDIS_MNEMONIC_MOVHLPS,      ZYDIS_MNEMONIC_MOVDDUP,
           ZYDIS_MNEMONIC_VMOVDQA,      ZYDIS_MNEMONIC_VMOVAPS,      ZYDIS_MNEMONIC_VMOVDDUP,
           ZYDIS_MNEMONIC_VPBROADCASTB, ZYDIS_MNEMONIC_VPBROADCASTW, ZYDIS_MNEMONIC_VPBROADCASTD,
           ZYDIS_MNEMONIC_VPBROADCASTQ, ZYDIS_MNEMONIC_VBROADCASTSS, ZYDIS_MNEMONIC_VBROADCASTSD,
           ZYDIS_MNEMONIC_VUNPCKHPD,    ZYDIS_MNEMONIC_VPUNPCKHQDQ,  ZYDIS_MNEMONIC_VPERMQ}))
    return false;
  int times = 0;
  for (const auto& operand : result.instruction.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
      times += reg_of(operand.reg.value) == difference.reg;
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      times += reg_of(operand.mem.base) == difference.reg;
      times += reg_of(operand.mem.index) == difference.reg;
    }
  }
  return times > 1;
}

// A vector instruction reads its memory operand whole and may use a part.
bool loaded_whole(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead && is_memory(difference) &&
         is_vector(result.instruction);
}

// Claims for a vector instruction that do not look at each element: selectors of which one bit
// counts, constants that shift an element out, parts that this one of a family leaves alone.
bool by_elements(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead && difference.reg >= Reg::kVector &&
         difference.reg < Reg::kMask &&
         is_any(
             result,
             {ZYDIS_MNEMONIC_VPERMILPD,   ZYDIS_MNEMONIC_VTESTPD,        ZYDIS_MNEMONIC_VPMASKMOVQ,
              ZYDIS_MNEMONIC_VMASKMOVPD,  ZYDIS_MNEMONIC_VPGATHERDQ,     ZYDIS_MNEMONIC_VPGATHERQQ,
              ZYDIS_MNEMONIC_VPGATHERQD,  ZYDIS_MNEMONIC_VGATHERQPS,     ZYDIS_MNEMONIC_VGATHERDPD,
              ZYDIS_MNEMONIC_VGATHERQPD,  ZYDIS_MNEMONIC_PSLLQ,          ZYDIS_MNEMONIC_PSRLQ,
              ZYDIS_MNEMONIC_VPSLLQ,      ZYDIS_MNEMONIC_VPSRLQ,         ZYDIS_MNEMONIC_SHA1NEXTE,
              ZYDIS_MNEMONIC_SHA256RNDS2, ZYDIS_MNEMONIC_SHA256MSG1,     ZYDIS_MNEMONIC_DPPS,
              ZYDIS_MNEMONIC_VDPPS,       ZYDIS_MNEMONIC_DPPD,           ZYDIS_MNEMONIC_MPSADBW,
              ZYDIS_MNEMONIC_VMPSADBW,    ZYDIS_MNEMONIC_AESKEYGENASSIST});
}

// A bit far from an address: of the operand one byte has it, and which one varies.
bool one_bit(const HardwareResult& result, const Difference& difference) {
  return is_extra(difference) && is_memory(difference) &&
         is_any(result,
                {ZYDIS_MNEMONIC_BT, ZYDIS_MNEMONIC_BTS, ZYDIS_MNEMONIC_BTR, ZYDIS_MNEMONIC_BTC}) &&
         result.instruction.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

// Of the word of flags those that are tracked lie in two bytes, and only these are tried.
bool flags_word(const HardwareResult& result, const Difference& difference) {
  return is_extra(difference) && is_memory(difference) &&
         is_any(result, {ZYDIS_MNEMONIC_POPF, ZYDIS_MNEMONIC_POPFQ});
}

// vcvtps2ph rounds by mxcsr or by its immediate.
bool rounding_by_immediate(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead && difference.reg == Reg::kMxcsr &&
         is_any(result, {ZYDIS_MNEMONIC_VCVTPS2PH});
}

// A number cut to an integer that it fits in: the last bits of its fraction never count.
bool fraction(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead && is_memory(difference) &&
         is_any(result, {ZYDIS_MNEMONIC_CVTTSD2SI, ZYDIS_MNEMONIC_CVTSD2SI,
                         ZYDIS_MNEMONIC_VCVTTSD2SI, ZYDIS_MNEMONIC_VCVTSD2SI});
}

// What the value is does not matter when it is compared with itself, nor if denormals are zeroes.
bool compared_with_itself(const HardwareResult& result, const Difference& difference) {
  if (is_any(result, {ZYDIS_MNEMONIC_CMP}) && difference.claim == Claim::kExtraRead)
    return result.instruction.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           result.instruction.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           result.instruction.operands[0].reg.value == result.instruction.operands[1].reg.value;
  const auto& operands = result.instruction.operands;
  return difference.claim == Claim::kExtraRead && difference.reg == Reg::kMxcsr &&
         is_any(result, {ZYDIS_MNEMONIC_UCOMISS, ZYDIS_MNEMONIC_UCOMISD, ZYDIS_MNEMONIC_COMISS,
                         ZYDIS_MNEMONIC_COMISD, ZYDIS_MNEMONIC_VUCOMISS, ZYDIS_MNEMONIC_VUCOMISD,
                         ZYDIS_MNEMONIC_VCOMISS, ZYDIS_MNEMONIC_VCOMISD}) &&
         operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[0].reg.value == operands[1].reg.value;
}

// cmpxchg with its accumulator as the new value stores what is there already.
bool exchanged_with_itself(const HardwareResult& result, const Difference& difference) {
  const auto& source = result.instruction.operands[1];
  return difference.claim == Claim::kExtraWrite && is_memory(difference) &&
         is_any(result, {ZYDIS_MNEMONIC_CMPXCHG}) && source.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         reg_of(source.reg.value) == Reg::kRax;
}

// Which byte of a line is named does not matter, nor is more seen than a fault.
bool whole_line(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead &&
         is_any(result, {ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT, ZYDIS_MNEMONIC_CLWB});
}

constexpr Explanation kExplanations[] = {
    {"undefined flags",
     "the manuals leave them undefined; the decoder lets no older value pass through",
     undefined_flags},
    {"onto itself", "moves and shuffles from a register to itself leave parts in their places",
     onto_itself},
    {"loaded whole", "the memory operand is loaded whole, and the result needs a part of it",
     loaded_whole},
    {"by elements", "the decoder does not look at the single elements of this vector instruction",
     by_elements},
    {"one bit", "which byte of the operand has the bit that is meant, varies", one_bit},
    {"flags word", "only the flags that are tracked are tried", flags_word},
    {"rounding by immediate", "vcvtps2ph rounds by mxcsr or by its immediate",
     rounding_by_immediate},
    {"fraction", "the last bits of a fraction that is cut off never count", fraction},
    {"compared with itself", "a value equals itself, whatever it is", compared_with_itself},
    {"exchanged with itself", "cmpxchg of the accumulator stores what is there already",
     exchanged_with_itself},
    {"whole line", "of a line that is flushed any byte may be named", whole_line},
};

}  // namespace

std::span<const Explanation> explanations() { return kExplanations; }

const Explanation* explain(const HardwareResult& result, const Difference& difference) {
  for (const Explanation& explanation : kExplanations)
    if (explanation.covers(result, difference)) return &explanation;
  return nullptr;
}

}  // namespace svd::test
