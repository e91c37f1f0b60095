// SPDX-License-Identifier: Apache-2.0
#include "decode/registers.h"

#include <array>

namespace svd {
namespace {

struct General {
  x86_reg full, half, word, low, high;
};

constexpr x86_reg kNoReg = X86_REG_INVALID;
constexpr std::array<General, 16> kGenerals{{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, kNoReg},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, kNoReg},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, kNoReg},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, kNoReg},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, kNoReg},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, kNoReg},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, kNoReg},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, kNoReg},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, kNoReg},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, kNoReg},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, kNoReg},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, kNoReg},
}};

using Map = std::array<RegPart, X86_REG_ENDING>;

void add_range(Map& map, x86_reg first, unsigned count, Reg reg, unsigned step, Lanes lanes) {
  for (unsigned i = 0; i < count; ++i)
    map[first + i] = {static_cast<Reg>(static_cast<unsigned>(reg) + i * step), lanes};
}

Map make_map() {
  Map map{};
  for (unsigned i = 0; i < kGenerals.size(); ++i) {
    const auto reg = static_cast<Reg>(i);
    map[kGenerals[i].full] = {reg, kGeneral};
    map[kGenerals[i].half] = {reg, kGeneral};
    map[kGenerals[i].word] = {reg, kWord};
    map[kGenerals[i].low] = {reg, kByte0};
    map[kGenerals[i].high] = {reg, kByte1};
  }
  add_range(map, X86_REG_XMM0, 32, Reg::kVector, 1, kXmm);
  add_range(map, X86_REG_YMM0, 32, Reg::kVector, 1, kYmm);
  add_range(map, X86_REG_ZMM0, 32, Reg::kVector, 1, kYmm);
  add_range(map, X86_REG_K0, 8, Reg::kMask, 1, kWhole);
  add_range(map, X86_REG_ST0, 8, Reg::kX87, 0, kWhole);
  add_range(map, X86_REG_MM0, 8, Reg::kX87, 0, kWhole);
  add_range(map, X86_REG_FP0, 8, Reg::kX87, 0, kWhole);
  map[X86_REG_FPSW] = {Reg::kX87, kWhole};
  map[X86_REG_FS] = {Reg::kFs, kWhole};
  map[X86_REG_GS] = {Reg::kGs, kWhole};
  map[X86_REG_INVALID] = {};
  return map;
}

}  // namespace

std::optional<RegPart> reg_part(x86_reg reg) {
  static const Map kMap = make_map();
  if (reg >= kMap.size() || kMap[reg].lanes == 0) return std::nullopt;
  return kMap[reg];
}

}  // namespace svd
