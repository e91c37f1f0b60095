// SPDX-License-Identifier: Apache-2.0
#include "oracle/describe.h"

#include <fmt/format.h>

#include <array>

namespace svd::test {
namespace {

constexpr std::array kGeneralNames{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::array kFlagNames{"cf", "pf", "af", "zf", "sf", "df", "of"};
constexpr std::array kOtherNames{"x87", "mxcsr", "fs", "gs"};
constexpr std::array kFlowNames{"next",          "jump",   "branch",      "indirect-jump", "call",
                                "indirect-call", "return", "system-call", "trap"};
constexpr std::array kRoleNames{"", ":addr", ":cond", ":stack"};

template <typename E>
auto number(E value) {
  return static_cast<std::size_t>(value);
}

std::string vector_lanes(Lanes lanes) {
  if (lanes == kXmm) return "";
  if (lanes == kYmm) return "[0123u]";
  std::string text = "[";
  for (int i = 0; i < 5; ++i)
    if (lanes >> i & 1) text += "0123u"[i];
  return text + "]";
}

std::string flags(Lanes lanes, const char* suffix) {
  std::string text;
  for (std::size_t i = 0; i < kFlagNames.size(); ++i) {
    if ((lanes >> i & 1) == 0) continue;
    if (!text.empty()) text += ' ';
    text += kFlagNames[i];
    text += suffix;
  }
  return text;
}

}  // namespace

std::string describe(Reg reg, Lanes lanes) {
  if (reg == Reg::kFlags) return flags(lanes, "");
  if (reg >= Reg::kMask) return fmt::format("k{}", number(reg) - number(Reg::kMask));
  if (reg >= Reg::kVector)
    return fmt::format("xmm{}{}", number(reg) - number(Reg::kVector), vector_lanes(lanes));
  if (reg > Reg::kFlags) return kOtherNames[number(reg) - number(Reg::kX87)];
  constexpr std::array kLanes{"-", ".0", ".1", ".w", ".r", ".0r", ".1r", ""};
  return fmt::format("{}{}", kGeneralNames[number(reg)], kLanes[lanes & 7]);
}

std::string describe(const InstrEffects& effects) {
  if (!effects.known) return "unknown";
  std::string uses, defs, memory;
  for (const RegUse& use : effects.uses) {
    const char* role = kRoleNames[number(use.role)];
    bool is_flags = use.reg == Reg::kFlags;
    uses += ' ' + (is_flags ? flags(use.lanes, role) : describe(use.reg, use.lanes) + role);
  }
  for (const RegDef& def : effects.defs)
    defs += ' ' + describe(def.reg, def.lanes) + (def.stack ? ":stack" : "");
  for (const MemoryOperand& operand : effects.memory)
    memory += fmt::format(" {}{}", operand.write ? 'w' : 'r', operand.size);

  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
  if (!uses.empty()) add("uses" + uses);
  if (!defs.empty()) add("defs" + defs);
  if (!memory.empty()) add("memory" + memory);
  if (effects.flow != Flow::kNext) {
    std::string flow = kFlowNames[number(effects.flow)];
    if (effects.target != Pc{}) flow += fmt::format(" {:#x}", effects.target.value);
    add("flow " + flow);
  }
  if (effects.copy) add("copy");
  if (effects.atomic) add("atomic");
  if (effects.repeated) add("repeated");
  return text;
}

}  // namespace svd::test
