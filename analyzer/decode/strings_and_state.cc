// SPDX-License-Identifier: Apache-2.0
//
// String instructions, and those that touch much or by a mask: x87, saved state, gathers.
#include <algorithm>

#include "decode/translation.h"

namespace svd {
namespace {

constexpr Lanes kArithmetic = kCf | kPf | kAf | kZf | kSf | kOf;

bool is_string(std::string_view mnemonic, std::string_view name) {
  return mnemonic.find(name) != std::string_view::npos;
}

}  // namespace

// By the bytes: Capstone misses an operand size prefix that stands before a rep.
std::uint16_t Translation::string_size() const {
  if ((x86_.opcode[0] & 1) == 0) return 1;
  if (x86_.rex & 8) return 8;
  std::span<const std::uint8_t> bytes(insn_.bytes, insn_.size);
  return std::ranges::find(bytes, 0x66) != bytes.end() ? 2 : 4;
}

void Translation::string() {
  std::string_view name = insn_.mnemonic;
  std::uint8_t prefix = x86_.prefix[0];
  bool repeated = prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE;
  out_.effects().repeated = repeated;
  std::uint16_t size = string_size();
  auto value = static_cast<Lanes>(size == 1 ? kByte0 : size == 2 ? kWord : kGeneral);
  if (repeated) {
    size = 0;
    out_.use(Reg::kRcx, kGeneral, UseRole::kCondition);
  }
  bool moves = is_string(name, "movs"), compares = is_string(name, "cmps");
  bool stores = is_string(name, "stos"), scans = is_string(name, "scas");
  bool loads = is_string(name, "lods");
  if (stores || scans) out_.use(Reg::kRax, value);
  auto pointer = [&](Reg reg) {
    out_.use(reg, kGeneral, UseRole::kAddress);
    out_.def(reg, kGeneral);
  };
  if (loads || moves || compares) {
    pointer(Reg::kRsi);
    out_.read_memory(size);
  }
  if (!loads) {
    pointer(Reg::kRdi);
    if (moves || stores)
      out_.write_memory(size);
    else
      out_.read_memory(size);
  }
  if (loads) {
    out_.def(Reg::kRax, value);
    if (repeated) out_.use(Reg::kRax, value);
  }
  out_.use(Reg::kFlags, kDf, UseRole::kCondition);
  if (compares || scans) {
    if (repeated) out_.use(Reg::kFlags, kArithmetic);
    out_.def(Reg::kFlags, kArithmetic);
  }
  if (repeated) out_.def(Reg::kRcx, kGeneral);
  out_.effects().copy = moves;
}

void Translation::x87() {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const cs_x86_op& op = operands_[i];
    bool write = semantics_.access == Access::kWrite;
    if (op.type == X86_OP_MEM) memory_operand(op, !write, write);
    if (auto reg = part(i); reg && is_general(reg->reg) && write) out_.def(reg->reg, reg->lanes);
  }
  flags();
  out_.use(Reg::kX87, kWhole);
  out_.def(Reg::kX87, kWhole);
}

void Translation::all_vectors(Lanes lanes, bool read, bool write) {
  for (unsigned i = 0; i < 16; ++i) {
    if (read) out_.use(vector_reg(i), lanes);
    if (write) out_.def(vector_reg(i), lanes);
  }
}

// fxsave, xsave and back: which parts, edx:eax tell; all are assumed.
void Translation::state() {
  bool restores = semantics_.access == Access::kRead;
  bool extended = insn_.mnemonic[0] == 'x';
  address(operands_[0], UseRole::kAddress);
  Lanes lanes = extended ? kYmm : kXmm;
  all_vectors(lanes, !restores || extended, restores);
  for (Reg reg : {Reg::kX87, Reg::kMxcsr}) {
    if (!restores || extended) out_.use(reg, kWhole);
    if (restores) out_.def(reg, kWhole);
  }
  if (extended) {
    out_.use(Reg::kRax, kGeneral, UseRole::kCondition);
    out_.use(Reg::kRdx, kGeneral, UseRole::kCondition);
  }
  std::uint16_t size = extended ? 0 : 512;
  if (restores)
    out_.read_memory(size);
  else
    out_.write_memory(size);
}

// maskmovdqu stores at rdi; vmaskmov and vpmaskmov load or store at an operand. What a store leaves
// out stays: the place is read and written.
void Translation::masked_move() {
  if (semantics_.access == Access::kRead) {
    std::size_t count = operands_.size();
    for (std::size_t index = count - 2; index < count; ++index)
      if (auto reg = part(index)) out_.use(reg->reg, reg->lanes);
    out_.use(Reg::kRdi, kGeneral, UseRole::kAddress);
    std::uint16_t size = insn_.id == X86_INS_MASKMOVQ ? 8 : 16;
    out_.read_memory(size);
    out_.write_memory(size);
    return;
  }
  plain();
  if (is_mem(0)) out_.read_memory(operands_[0].size);
}

// Elements are loaded where the mask has its sign; the mask is cleared on the way. The operands are
// the destination, a memory operand with a vector as index, and the mask.
void Translation::gather() {
  std::string_view name = insn_.mnemonic;
  bool doubles = name.ends_with("q") || name.ends_with("pd");
  bool wide_index = name.find("gatherq") != std::string_view::npos;
  unsigned element = doubles ? 8 : 4;
  auto bytes = [](std::optional<RegPart> reg) { return reg && reg->lanes == kYmm ? 32U : 16U; };
  std::size_t memory = is_mem(1) ? 1 : 2;
  unsigned count = std::min(bytes(part(0)) / element,
                            bytes(reg_part(operands_[memory].mem.index)) / (wide_index ? 8 : 4));
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (auto reg = part(i)) {
      out_.use(reg->reg, reg->lanes);
      out_.def(reg->reg, kYmm);
    }
  }
  address(operands_[memory], UseRole::kAddress);
  for (unsigned i = 0; i < count; ++i) out_.read_memory(static_cast<std::uint16_t>(element));
}

void Translation::translate() {
  out_.use(Reg::kRbx, kGeneral, UseRole::kAddress);
  out_.use(Reg::kRax, kByte0, UseRole::kAddress);
  out_.read_memory(1);
  out_.def(Reg::kRax, kByte0);
}

// Without nested frames, which no compiler makes.
void Translation::enter() {
  stack_update();
  out_.use(Reg::kRbp, kGeneral);
  out_.def(Reg::kRbp, kGeneral, true);
  out_.write_memory(8);
}

}  // namespace svd
