// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <capstone/capstone.h>

#include "decode/semantics.h"
#include "decode/translation.h"
#include "decode/undecoded.h"

namespace svd {

// The room for one decoded instruction is kept: Capstone would allocate it anew each time.
struct Decoder::Impl {
  csh handle = 0;
  cs_insn* insn = nullptr;

  Impl() {
    cs_open(CS_ARCH_X86, CS_MODE_64, &handle);
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    insn = cs_malloc(handle);
  }
  ~Impl() {
    cs_free(insn, 1);
    cs_close(&handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
};

Decoder::Decoder() : impl_(std::make_unique<Impl>()) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

InstrEffects Decoder::decode(std::span<const std::uint8_t> code, Pc pc) const {
  const std::uint8_t* at = code.data();
  std::size_t left = code.size();
  std::uint64_t address = pc.value;
  // EVEX is decoded in part, and that with wrong registers.
  if (is_evex(code)) return undecoded(code);
  if (!cs_disasm_iter(impl_->handle, &at, &left, &address, impl_->insn)) {
    std::size_t opcode = opcode_of_vbroadcasti128(code);
    if (opcode == 0) return undecoded(code);
    std::vector<std::uint8_t> twin(code.begin(), code.end());
    twin[opcode] = 0x1a;
    return decode(twin, pc);
  }
  InstrEffects effects;
  effects.length = static_cast<std::uint8_t>(impl_->insn->size);
  Translation(*impl_->insn, semantics_table(impl_->handle)[impl_->insn->id], effects).run();
  return effects;
}

std::vector<InstrEffects> Decoder::decode(const Block& block) const {
  std::vector<InstrEffects> all;
  all.reserve(block.instructions.size());
  std::span<const std::uint8_t> code = block.code;
  for (const Instruction& instruction : block.instructions) {
    all.push_back(decode(code.first(instruction.length), instruction.pc));
    code = code.subspan(instruction.length);
  }
  return all;
}

}  // namespace svd
