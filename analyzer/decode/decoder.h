// SPDX-License-Identifier: Apache-2.0
//
// Machine code to InstrEffects, by Capstone with corrections. Slow (microseconds an instruction):
// callers decode each static block once and keep the answer. One Decoder for each thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/effects.h"
#include "svd/trace/block.h"

namespace svd {

class Decoder {
 public:
  Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // The instruction at the front of `code`, which stands at `pc`. What cannot be decoded gives
  // effects with known = false: AVX-512 with its length, all else with length 0 (a caller that
  // knows the length goes on by it).
  InstrEffects decode(std::span<const std::uint8_t> code, Pc pc) const;

  // Effects of each instruction of a block, in order. An abstract block's statements have none:
  // their slots say all.
  std::vector<InstrEffects> decode(const Block& block) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
