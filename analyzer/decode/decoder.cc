// SPDX-License-Identifier: Apache-2.0
//
// Capstone's view of an instruction turned into InstrEffects.
#include "decode/decoder.h"

#include <capstone/capstone.h>

namespace svd {

struct Decoder::Impl {
  csh handle = 0;
  Impl() {
    cs_open(CS_ARCH_X86, CS_MODE_64, &handle);
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  }
  ~Impl() { cs_close(&handle); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
};

Decoder::Decoder() : impl_(std::make_unique<Impl>()) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

InstrEffects Decoder::decode(std::span<const std::uint8_t>, Pc) const {
  InstrEffects effects;
  effects.known = false;
  return effects;
}

std::vector<InstrEffects> Decoder::decode(const Block& block) const {
  std::vector<InstrEffects> all;
  std::span<const std::uint8_t> code = block.code;
  for (const Instruction& instruction : block.instructions) {
    all.push_back(decode(code.first(instruction.length), instruction.pc));
    code = code.subspan(instruction.length);
  }
  return all;
}

}  // namespace svd
