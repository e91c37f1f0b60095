// SPDX-License-Identifier: Apache-2.0
#include "oracle/zydis_explanations.h"

#include <algorithm>

namespace svd::test {
namespace {

bool is_any(const Case& c, std::initializer_list<ZydisMnemonic> mnemonics) {
  return std::ranges::find(mnemonics, c.zydis.instruction.mnemonic) != mnemonics.end();
}

ZydisInstructionCategory category(const Case& c) { return c.zydis.instruction.meta.category; }

bool names(const ZydisDecodedOperand& operand, Reg reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && reg_of(operand.reg.value) == reg;
}

bool only_ours(const Case& c, Topic topic) {
  return c.disagreement.topic == topic && c.disagreement.ours;
}
bool only_zydis(const Case& c, Topic topic) {
  return c.disagreement.topic == topic && !c.disagreement.ours;
}

// A definition that may not happen reads the old value.
bool old_value(const Case& c) {
  switch (category(c)) {
    case ZYDIS_CATEGORY_CMOV:
      return only_ours(c, Topic::kRead) && names(c.zydis.operands[0], c.disagreement.reg);
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_STRINGOP:
      return only_ours(c, Topic::kFlagRead) ||
             (only_ours(c, Topic::kRead) && c.disagreement.reg == Reg::kRax);
    default:
      break;
  }
  return only_ours(c, Topic::kRead) && names(c.zydis.operands[0], c.disagreement.reg) &&
         is_any(c, {ZYDIS_MNEMONIC_BSF, ZYDIS_MNEMONIC_BSR});
}

// mxcsr says how results are rounded and what becomes of denormals; Zydis does not list it.
bool rounding(const Case& c) {
  return only_ours(c, Topic::kRead) && c.disagreement.reg == Reg::kMxcsr;
}

// The result is a constant, or the carry.
bool idiom(const Case& c) {
  if (!only_zydis(c, Topic::kRead) && !only_zydis(c, Topic::kFlagWritten)) return false;
  if (c.zydis.instruction.operand_count_visible == 0) return false;
  const auto& operands = c.zydis.operands;
  std::size_t last = c.zydis.instruction.operand_count_visible - 1U;
  if (operands[last].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    return is_any(c, {ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_OR}) &&
           (operands[last].imm.value.s == 0 || operands[last].imm.value.s == -1);
  bool same = last > 0 && operands[last].type == ZYDIS_OPERAND_TYPE_REGISTER &&
              operands[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
              operands[last].reg.value == operands[last - 1].reg.value;
  if (only_zydis(c, Topic::kFlagWritten))
    return same && is_any(c, {ZYDIS_MNEMONIC_SBB}) && c.disagreement.flags == kCf;
  return same && names(operands[last], c.disagreement.reg);
}

// Lanes of the destination that stay as they are: Zydis, without lanes, calls that a read.
bool lanes_stay(const Case& c) {
  if (!only_zydis(c, Topic::kRead)) return false;
  auto def = std::ranges::find(c.effects.defs, c.disagreement.reg, &RegDef::reg);
  Lanes whole = c.zydis.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ? kYmm : kXmm;
  return def != c.effects.defs.end() && def->reg >= Reg::kVector && (def->lanes & whole) != whole;
}

bool x87_is_one(const Case& c) {
  return c.disagreement.reg == Reg::kX87 &&
         (only_ours(c, Topic::kRead) || only_ours(c, Topic::kWritten));
}

// What a selection by an immediate leaves out.
bool selected(const Case& c) {
  if (!only_zydis(c, Topic::kRead) || c.disagreement.reg < Reg::kVector) return false;
  std::size_t visible = c.zydis.instruction.operand_count_visible;
  return visible > 0 && is_vector(c.zydis) &&
         c.zydis.operands[visible - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

// Zydis forgets that cmps and scas move their pointers.
bool string_pointers(const Case& c) {
  return category(c) == ZYDIS_CATEGORY_STRINGOP && only_ours(c, Topic::kWritten) &&
         (c.disagreement.reg == Reg::kRsi || c.disagreement.reg == Reg::kRdi);
}

// The other flags become 0; Zydis says that of ptest, and not of these.
bool cleared_flags(const Case& c) {
  return only_ours(c, Topic::kFlagWritten) &&
         is_any(c, {ZYDIS_MNEMONIC_VPTEST, ZYDIS_MNEMONIC_VTESTPS, ZYDIS_MNEMONIC_VTESTPD});
}

// A gather is one operand for Zydis, and as many as there are elements for the decoder. What a
// store by a mask leaves out stays, so that the decoder has it read, too.
bool masked(const Case& c) {
  return c.disagreement.topic == Topic::kMemory &&
         (category(c) == ZYDIS_CATEGORY_AVX2GATHER ||
          is_any(c, {ZYDIS_MNEMONIC_MASKMOVDQU, ZYDIS_MNEMONIC_VMASKMOVDQU,
                     ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VMASKMOVPD,
                     ZYDIS_MNEMONIC_VPMASKMOVD, ZYDIS_MNEMONIC_VPMASKMOVQ}));
}

// xlat adds al to its address; Zydis has it as written only.
bool translation(const Case& c) {
  return is_any(c, {ZYDIS_MNEMONIC_XLAT}) && only_ours(c, Topic::kRead) &&
         c.disagreement.reg == Reg::kRax;
}

// leave takes rsp from rbp.
bool leave(const Case& c) {
  return is_any(c, {ZYDIS_MNEMONIC_LEAVE}) && only_zydis(c, Topic::kRead) &&
         c.disagreement.reg == Reg::kRsp;
}

// The decoder calls the operands of a repeated instruction ranges.
bool repeated(const Case& c) {
  return c.effects.repeated && c.disagreement.topic == Topic::kMemory;
}

// The address is formed at most.
bool no_access(const Case& c) {
  bool hint = category(c) == ZYDIS_CATEGORY_NOP || category(c) == ZYDIS_CATEGORY_WIDENOP ||
              category(c) == ZYDIS_CATEGORY_PREFETCH;
  bool flush = is_any(c, {ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT, ZYDIS_MNEMONIC_CLWB});
  if (c.disagreement.topic == Topic::kMemory) return (hint || flush) && c.effects.memory.empty();
  return hint && only_zydis(c, Topic::kRead);
}

// Zydis does not list the registers that these touch.
bool all_vectors(const Case& c) {
  if (!c.disagreement.ours && c.disagreement.topic != Topic::kMemory) return false;
  switch (category(c)) {
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
      return true;
    default:
      break;
  }
  return is_any(c, {ZYDIS_MNEMONIC_VZEROUPPER, ZYDIS_MNEMONIC_VZEROALL, ZYDIS_MNEMONIC_FXSAVE,
                    ZYDIS_MNEMONIC_FXRSTOR, ZYDIS_MNEMONIC_FXSAVE64, ZYDIS_MNEMONIC_FXRSTOR64});
}

// The decoder speaks of what the program sees: rax goes in and comes out, the flags are kept in r11
// and come back.
bool system_call(const Case& c) { return is_any(c, {ZYDIS_MNEMONIC_SYSCALL}); }

// Transactions: xabort and xend do nothing outside of one; xbegin may leave rax alone.
bool transaction(const Case& c) {
  return is_any(c, {ZYDIS_MNEMONIC_XABORT, ZYDIS_MNEMONIC_XEND}) ||
         (is_any(c, {ZYDIS_MNEMONIC_XBEGIN}) && only_ours(c, Topic::kRead));
}

struct Rule {
  const char* name;
  bool (*covers)(const Case&);
};

constexpr Rule kRules[] = {
    {"old value", old_value},
    {"rounding", rounding},
    {"idiom", idiom},
    {"masked", masked},
    {"translation", translation},
    {"selected", selected},
    {"string pointers", string_pointers},
    {"cleared flags", cleared_flags},
    {"lanes stay", lanes_stay},
    {"x87 is one", x87_is_one},
    {"leave", leave},
    {"repeated", repeated},
    {"no access", no_access},
    {"all vectors", all_vectors},
    {"system call", system_call},
    {"transaction", transaction},
};

}  // namespace

const char* explain(const Case& c) {
  for (const Rule& rule : kRules)
    if (rule.covers(c)) return rule.name;
  return nullptr;
}

}  // namespace svd::test
