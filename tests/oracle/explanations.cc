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
    {ZYDIS_MNEMONIC_SHLD, kAf | kOf},
    {ZYDIS_MNEMONIC_SHRD, kAf | kOf},
    {ZYDIS_MNEMONIC_BEXTR, kPf | kAf | kSf},
    {ZYDIS_MNEMONIC_BZHI, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSI, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSR, kPf | kAf},
    {ZYDIS_MNEMONIC_BLSMSK, kPf | kAf},
    {ZYDIS_MNEMONIC_ANDN, kPf | kAf},
};

bool undefined_flags(const HardwareResult& result, const Difference& difference) {
  if (difference.claim != Claim::kExtraWrite || difference.reg != Reg::kFlags) return false;
  for (const UndefinedFlags& row : kUndefinedFlags)
    if (result.instruction.instruction.mnemonic == row.mnemonic)
      return (difference.lanes & ~row.flags) == 0;
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
         is_any(result,
                {ZYDIS_MNEMONIC_PALIGNR,    ZYDIS_MNEMONIC_SHUFPS,      ZYDIS_MNEMONIC_SHUFPD,
                 ZYDIS_MNEMONIC_PSHUFD,     ZYDIS_MNEMONIC_PSHUFLW,     ZYDIS_MNEMONIC_PSHUFHW,
                 ZYDIS_MNEMONIC_PUNPCKLBW,  ZYDIS_MNEMONIC_PUNPCKLWD,   ZYDIS_MNEMONIC_PUNPCKLDQ,
                 ZYDIS_MNEMONIC_PUNPCKLQDQ, ZYDIS_MNEMONIC_PUNPCKHBW,   ZYDIS_MNEMONIC_PUNPCKHWD,
                 ZYDIS_MNEMONIC_PUNPCKHDQ,  ZYDIS_MNEMONIC_PUNPCKHQDQ,  ZYDIS_MNEMONIC_UNPCKLPS,
                 ZYDIS_MNEMONIC_UNPCKLPD,   ZYDIS_MNEMONIC_UNPCKHPS,    ZYDIS_MNEMONIC_UNPCKHPD,
                 ZYDIS_MNEMONIC_PBLENDW,    ZYDIS_MNEMONIC_PCLMULQDQ,   ZYDIS_MNEMONIC_VPCLMULQDQ,
                 ZYDIS_MNEMONIC_VPALIGNR,   ZYDIS_MNEMONIC_VSHUFPS,     ZYDIS_MNEMONIC_VSHUFPD,
                 ZYDIS_MNEMONIC_VPSHUFD,    ZYDIS_MNEMONIC_VPUNPCKLQDQ, ZYDIS_MNEMONIC_VPUNPCKHQDQ,
                 ZYDIS_MNEMONIC_VPERM2F128, ZYDIS_MNEMONIC_VPERM2I128});
}

// A number cut to an integer that it fits in: the last bits of its fraction never count.
bool fraction(const HardwareResult& result, const Difference& difference) {
  return difference.claim == Claim::kExtraRead && is_memory(difference) &&
         is_any(result, {ZYDIS_MNEMONIC_CVTTSD2SI, ZYDIS_MNEMONIC_CVTSD2SI,
                         ZYDIS_MNEMONIC_VCVTTSD2SI, ZYDIS_MNEMONIC_VCVTSD2SI});
}

// Whether denormals are zeroes does not matter when a number is compared with itself.
bool compared_with_itself(const HardwareResult& result, const Difference& difference) {
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
    {"fraction", "the last bits of a fraction that is cut off never count", fraction},
    {"compared with itself", "a number equals itself, denormals or not", compared_with_itself},
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
