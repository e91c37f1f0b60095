// SPDX-License-Identifier: Apache-2.0
#include "oracle/zydis_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oracle/describe.h"

namespace svd::test {
namespace {

struct View {
  std::set<Reg> read{}, written{};
  Lanes flags_read = 0, flags_written = 0;
  std::vector<std::string> memory{};  // sorted
  Flow flow = Flow::kNext;
};

std::string memory_text(bool write, unsigned size) {
  return fmt::format("{}{}", write ? 'w' : 'r', size);
}

View view_of(const InstrEffects& effects) {
  View view{.flow = effects.flow};
  for (const RegUse& use : effects.uses) {
    if (use.reg == Reg::kFlags)
      view.flags_read |= use.lanes;
    else
      view.read.insert(use.reg);
  }
  for (const RegDef& def : effects.defs) {
    if (def.reg == Reg::kFlags)
      view.flags_written |= def.lanes;
    else
      view.written.insert(def.reg);
  }
  for (const MemoryOperand& memory : effects.memory)
    view.memory.push_back(memory_text(memory.write, memory.size));
  std::ranges::sort(view.memory);
  return view;
}

Lanes flags_of(ZydisAccessedFlagsMask mask) {
  constexpr std::array kMasks{ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF,
                              ZYDIS_CPUFLAG_ZF, ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_DF,
                              ZYDIS_CPUFLAG_OF};
  Lanes lanes = 0;
  for (std::size_t i = 0; i < kMasks.size(); ++i)
    if (mask & kMasks[i]) lanes = static_cast<Lanes>(lanes | 1U << i);
  return lanes;
}

Flow flow_of(const ZydisInstruction& zydis) {
  bool direct = zydis.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (zydis.instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return direct ? Flow::kJump : Flow::kIndirectJump;
    case ZYDIS_CATEGORY_CALL:
      return direct ? Flow::kCall : Flow::kIndirectCall;
    case ZYDIS_CATEGORY_RET:
      return Flow::kReturn;
    case ZYDIS_CATEGORY_SYSCALL:
      return Flow::kSystemCall;
    case ZYDIS_CATEGORY_INTERRUPT:
      return Flow::kTrap;
    default:
      break;
  }
  switch (zydis.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return Flow::kTrap;
    default:
      return Flow::kNext;
  }
}

View view_of(const ZydisInstruction& zydis) {
  View view{.flow = flow_of(zydis)};
  auto add = [](std::set<Reg>& set, ZydisRegister reg) {
    Reg ours = reg_of(reg);
    if (ours != Reg::kCount) set.insert(ours);
  };
  for (const auto& operand : zydis.all()) {
    bool read = operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool write = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      if (read) add(view.read, operand.reg.value);
      if (write) add(view.written, operand.reg.value);
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    add(view.read, operand.mem.base);
    add(view.read, operand.mem.index);
    if (operand.mem.segment == ZYDIS_REGISTER_FS) view.read.insert(Reg::kFs);
    if (operand.mem.segment == ZYDIS_REGISTER_GS) view.read.insert(Reg::kGs);
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    if (read) view.memory.push_back(memory_text(false, operand.size / 8U));
    if (write) view.memory.push_back(memory_text(true, operand.size / 8U));
  }
  std::ranges::sort(view.memory);
  if (const ZydisAccessedFlags* flags = zydis.instruction.cpu_flags) {
    view.flags_read = flags_of(flags->tested);
    view.flags_written = flags_of(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
  }
  return view;
}

class Comparison {
 public:
  std::vector<Disagreement> run(const View& ours, const View& theirs) {
    registers(Topic::kRead, ours.read, theirs.read);
    registers(Topic::kWritten, ours.written, theirs.written);
    flags(Topic::kFlagRead, ours.flags_read, theirs.flags_read);
    flags(Topic::kFlagWritten, ours.flags_written, theirs.flags_written);
    if (ours.memory != theirs.memory)
      out_.push_back({.topic = Topic::kMemory,
                      .text = fmt::format("memory {} Zydis {}", fmt::join(ours.memory, "+"),
                                          fmt::join(theirs.memory, "+"))});
    if (ours.flow != theirs.flow) out_.push_back({.topic = Topic::kFlow, .text = "control flow"});
    return std::move(out_);
  }

 private:
  void registers(Topic topic, const std::set<Reg>& ours, const std::set<Reg>& theirs) {
    for (Reg reg : ours)
      if (!theirs.contains(reg)) add(topic, true, reg, 0);
    for (Reg reg : theirs)
      if (!ours.contains(reg)) add(topic, false, reg, 0);
  }

  void flags(Topic topic, Lanes ours, Lanes theirs) {
    if (auto lanes = static_cast<Lanes>(ours & ~theirs)) add(topic, true, Reg::kFlags, lanes);
    if (auto lanes = static_cast<Lanes>(theirs & ~ours)) add(topic, false, Reg::kFlags, lanes);
  }

  void add(Topic topic, bool ours, Reg reg, Lanes flags) {
    constexpr const char* kTopics[] = {"reads", "writes", "reads", "writes"};
    Lanes lanes = reg == Reg::kFlags ? flags : is_vector(reg) ? kXmm : kGeneral;
    out_.push_back({topic, ours, reg, flags,
                    fmt::format("only {} {} {}", ours ? "the decoder" : "Zydis",
                                kTopics[static_cast<std::size_t>(topic)], describe(reg, lanes))});
  }

  static bool is_vector(Reg reg) { return reg >= Reg::kVector && reg < Reg::kMask; }

  std::vector<Disagreement> out_;
};

}  // namespace

Reg reg_of(ZydisRegister reg) {
  switch (reg) {
    case ZYDIS_REGISTER_MXCSR:
      return Reg::kMxcsr;
    case ZYDIS_REGISTER_X87CONTROL:
    case ZYDIS_REGISTER_X87STATUS:
    case ZYDIS_REGISTER_X87TAG:
      return Reg::kX87;
    default:
      break;
  }
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole == ZYDIS_REGISTER_NONE) whole = reg;
  auto number = static_cast<unsigned>(ZydisRegisterGetId(whole));
  auto nth = [&](Reg first) { return static_cast<Reg>(static_cast<unsigned>(first) + number); };
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
      return nth(Reg::kRax);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
      return nth(Reg::kVector);
    case ZYDIS_REGCLASS_MASK:
      return nth(Reg::kMask);
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
      return Reg::kX87;
    default:
      return Reg::kCount;
  }
}

std::vector<Disagreement> compare(const InstrEffects& effects, const ZydisInstruction& zydis) {
  auto differences = Comparison().run(view_of(effects), view_of(zydis));
  if (effects.length != zydis.instruction.length)
    differences.push_back(
        {.topic = Topic::kLength,
         .text = fmt::format("length {} Zydis {}", effects.length, zydis.instruction.length)});
  return differences;
}

}  // namespace svd::test
