// SPDX-License-Identifier: Apache-2.0
//
// Values to try an instruction with, and changes of them. The same values in each run.
#pragma once

#include <bitset>

#include "decode/effects.h"
#include "oracle/experiment.h"

namespace svd::test {

// The flags that are tracked, as bits of rflags; and mxcsr without the sticky exception bits.
Lanes flag_lanes(std::uint64_t flags);
std::uint64_t flag_bits(Lanes lanes);
inline constexpr std::uint64_t kMxcsrControl = 0xffc0;

class Inputs {
 public:
  Inputs(const Experiment& experiment, Machine& machine)
      : experiment_(experiment), machine_(machine), immediate_(experiment.immediate) {}

  // Registers and memory number `base`. The windows are moved with the addresses.
  void make(int base, CpuState& state, Memory& memory);

  // The code with another immediate.
  Code other_immediate();

  // Changes every lane of `lanes`; those that form addresses in such a way that what is hit is
  // either near or nothing.
  void flip(const std::array<Lanes, kRegCount>& lanes, int trial, CpuState& state);

  // Changes the bytes [begin, end) that are not in `but`.
  void flip(std::size_t begin, std::size_t end, const std::bitset<kWindows * kWindowBytes>& but,
            int trial, Memory& memory);

 private:
  std::uint64_t random();
  std::uint64_t common_value();
  std::uint64_t value(int flavour, std::uint64_t common);
  void change(std::uint8_t* bytes, std::size_t count, int trial);
  void flip_general(std::size_t reg, Lanes lanes, int trial, std::uint64_t& value);
  void adjust(CpuState& state, Memory& memory);
  std::uint8_t allowed(std::size_t byte) const;

  const Experiment& experiment_;
  Machine& machine_;
  std::uint64_t immediate_;   // of the code as it is now
  int place_ = 0;             // of the one bit of a number that is not 0
  std::uint8_t one_bit_ = 1;  // of a byte, to change: that one, where there is one
  std::uint64_t seed_ = 1;
};

}  // namespace svd::test
