// SPDX-License-Identifier: Apache-2.0
#include "oracle/inputs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace svd::test {
namespace {

constexpr std::uint64_t kFlagBits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x400, 0x800};
constexpr std::uint64_t kAllFlags = 0xcd5, kFixedFlags = 0x202;
constexpr std::uint64_t kMxcsrDefault = 0x1f80, kMxcsrRounding = 0x6000, kMxcsrChanges = 0xe040;

constexpr unsigned kRsp = 4;
constexpr std::uint64_t kIndexAlignment = 31;

// Added to a register that forms an address: hits nothing, whatever the scale and width.
constexpr std::uint64_t kFarAway = 0x0040'0000'2000'0000;

constexpr std::size_t kStackMiddle =
    static_cast<std::size_t>(Window::kStack) * kWindowBytes + kWindowMiddle;
constexpr std::size_t kDataMiddle =
    static_cast<std::size_t>(Window::kData) * kWindowBytes + kWindowMiddle;

constexpr std::uint64_t kBytesOfOne = 0x0101010101010101, kBytesOfTwo = 2 * kBytesOfOne;

// Of many sizes, and now and then infinite: one bit from there it is no number.
std::uint64_t some_double(std::uint64_t bits) {
  if (bits % 4 == 0) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  double number = 1.0 + static_cast<double>(bits / 8 % 1000) / 7;
  return std::bit_cast<std::uint64_t>(std::ldexp(number, static_cast<int>(bits >> 32 & 63)));
}

std::uint32_t some_float(std::uint64_t bits) {
  if (bits % 4 == 0) return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  float number = 1.0F + static_cast<float>(bits / 8 % 1000) / 7;
  return std::bit_cast<std::uint32_t>(std::ldexp(number, static_cast<int>(bits >> 20 & 31)));
}

enum Flavour { kBits, kSmall, kDoubles, kFloats, kEqual, kTiny, kZeroes, kEdges, kFlavours };

}  // namespace

Lanes flag_lanes(std::uint64_t flags) {
  Lanes lanes = 0;
  for (unsigned i = 0; i < std::size(kFlagBits); ++i)
    if (flags & kFlagBits[i]) lanes = static_cast<Lanes>(lanes | 1U << i);
  return lanes;
}

std::uint64_t flag_bits(Lanes lanes) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < std::size(kFlagBits); ++i)
    if (lanes >> i & 1) bits |= kFlagBits[i];
  return bits;
}

// splitmix64
std::uint64_t Inputs::random() {
  std::uint64_t z = (seed_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t Inputs::value(int flavour, std::uint64_t common) {
  std::uint64_t bits = random();
  switch (flavour) {
    case kSmall:
      return (bits & 3) | (bits >> 2 & 3) << 32;
    case kDoubles:
      return some_double(bits);
    case kFloats:
      return some_float(bits) | std::uint64_t{some_float(bits >> 32)} << 32;
    case kEqual:
      return common;
    case kTiny:
      return common % 2 ? bits & 0x0303030303030303 : (bits & kBytesOfTwo) + kBytesOfOne;
    case kEdges:  // bytes 00 and ff, where carries run far
      if (bits >> 62 == 0) return bits % 4 == 0 ? 0 : ~0ULL;
      return ((bits & kBytesOfOne) * 0xff) ^ (bits >> 60 == 2 ? 0x80 : 0);
    case kZeroes:
      return bits % 4 == 0 ? 0 : 1ULL << place_;
    default:
      return bits;
  }
}

// For states in which everything is equal: to anything, to the immediate, to an address.
std::uint64_t Inputs::common_value() {
  std::uint64_t bits = random();
  if (bits % 4 == 0) return immediate_;
  if (bits % 4 > 1) return bits;
  auto& address = experiment_.addresses[bits / 4 % 16];
  return address ? *address : *experiment_.addresses[4];
}

Code Inputs::other_immediate() {
  Code code = experiment_.code;
  unsigned bits = 8 * static_cast<unsigned>(experiment_.immediate_bytes);
  // Odd: a shift by 0 would be another form.
  immediate_ = static_cast<std::uint64_t>(
      static_cast<std::int64_t>(random() | 1ULL << (64 - bits)) >> (64 - bits));
  std::memcpy(code.data() + experiment_.immediate_offset, &immediate_, experiment_.immediate_bytes);
  return code;
}

void Inputs::make(int base, CpuState& state, Memory& memory) {
  int flavour = base % kFlavours;
  place_ = 8 * (base / kFlavours % 8) + static_cast<int>(random() % 8);
  one_bit_ = static_cast<std::uint8_t>(flavour == kZeroes ? 1U << place_ % 8 : 1U);
  std::uint64_t common = common_value();
  for (auto& reg : state.general) reg = value(flavour, common);
  for (auto& vector : state.vectors) {
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t part = value(flavour, common);
      std::memcpy(vector.data() + 8 * i, &part, 8);
    }
  }
  for (std::size_t i = 0; i < memory.size(); i += 8) {
    std::uint64_t part = value(flavour, common);
    std::memcpy(memory.data() + i, &part, 8);
  }
  state.flags = (random() & kAllFlags) | kFixedFlags;
  state.mxcsr = kMxcsrDefault | (random() & kMxcsrRounding);
  adjust(state, memory);
}

// What must have certain values for the instruction to do anything.
void Inputs::adjust(CpuState& state, Memory& memory) {
  if (experiment_.divides) {
    state.general[0] = random() & 0x7f;
    state.general[2] = 0;
  }
  if (experiment_.repeats) state.general[1] = random() % 8 + (random() % 8 == 0 ? 0x10000 : 0);
  // A step then crosses a multiple of 64 KiB, so that it changes all of the register.
  std::uint64_t before = experiment_.steps && random() % 2 ? 1ULL << random() % 4 : 0;
  machine_.move_windows_down(before);
  for (std::size_t i = 0; i < 16; ++i)
    if (experiment_.addresses[i]) state.general[i] = *experiment_.addresses[i] - before;
  if (experiment_.scaled) {
    const Experiment::Scaled& scaled = *experiment_.scaled;
    bool still = experiment_.steps && scaled.base == kRsp;
    std::uint64_t index = still ? 0 : random() & ~kIndexAlignment;
    state.general[scaled.index] = index;
    state.general[scaled.base] =
        *experiment_.addresses[scaled.base] - index * scaled.scale - before;
  }
  if (experiment_.vector_index) {
    auto& vector = state.vectors[*experiment_.vector_index];
    vector.fill(0);
    for (std::size_t i = 0; i < vector.size(); i += experiment_.vector_index_bytes)
      vector[i] = static_cast<std::uint8_t>(random() & 15);
  }
  // Operands that equal what their address is made of.
  if (random() % 16 == 0) {
    std::array<std::size_t, 16> set{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < 16; ++i)
      if (experiment_.addresses[i]) set[count++] = i;
    std::size_t reg = set[random() % count];
    for (std::size_t i = 0; i < memory.size(); i += 8)
      std::memcpy(memory.data() + i, &state.general[reg], 8);
  }
  std::uint64_t word = 0;
  if (experiment_.pops_flags) {
    word = (random() & kAllFlags) | kFixedFlags;
    std::memcpy(memory.data() + kStackMiddle, &word, 8);
  }
  if (experiment_.loads_mxcsr) {
    word = kMxcsrDefault | (random() & kMxcsrChanges);
    std::memcpy(memory.data() + kDataMiddle, &word, 4);
  }
}

void Inputs::change(std::uint8_t* bytes, std::size_t count, int trial) {
  std::uint64_t bits = random();
  auto mask = static_cast<std::uint8_t>(bits % 255 + 1);
  std::size_t at = (bits >> 8) % count;
  switch (trial) {
    case 0:
      for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] ^ (random() % 255 + 1));
      break;
    case 1:
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ mask);
      break;
    case 2:
      bytes[at] ^= one_bit_;
      break;
    default:
      bytes[count - 1] ^= 0x80;
      break;
  }
}

void Inputs::flip_general(std::size_t reg, Lanes lanes, int trial, std::uint64_t& value) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&value);
  if (lanes & kByte0) change(bytes, 1, trial);
  if (lanes & kByte1) change(bytes + 1, 1, trial);
  if ((lanes & kRest) == 0) return;
  if (experiment_.addresses[reg])
    value ^= kFarAway;
  else
    change(bytes + 2, 6, trial);
}

void Inputs::flip(const std::array<Lanes, kRegCount>& lanes, int trial, CpuState& state) {
  for (std::size_t i = 0; i < 16; ++i)
    if (lanes[i]) flip_general(i, lanes[i], trial, state.general[i]);
  state.flags ^= flag_bits(lanes[static_cast<std::size_t>(Reg::kFlags)]);
  if (lanes[static_cast<std::size_t>(Reg::kMxcsr)])
    state.mxcsr ^= trial < 2 ? random() % 3 * 0x2000 + 0x2000 : random() % 2 ? 0x8000 : 0x40;
  for (std::size_t i = 0; i < 16; ++i) {
    Lanes vector = lanes[static_cast<std::size_t>(Reg::kVector) + i];
    for (std::size_t lane = 0; lane < 4; ++lane)
      if (vector >> lane & 1) change(state.vectors[i].data() + 4 * lane, 4, trial);
    if (vector & kYmmUpper) change(state.vectors[i].data() + 16, 16, trial);
  }
}

// The bits of a byte of memory that may be changed.
std::uint8_t Inputs::allowed(std::size_t byte) const {
  if (!experiment_.pops_flags || byte < kStackMiddle || byte >= kStackMiddle + 8) return 0xff;
  return static_cast<std::uint8_t>(kAllFlags >> 8 * (byte - kStackMiddle));
}

void Inputs::flip(std::size_t begin, std::size_t end,
                  const std::bitset<kWindows * kWindowBytes>& but, int trial, Memory& memory) {
  for (std::size_t i = begin; i < end; ++i) {
    if (but[i]) continue;
    std::uint8_t old = memory[i];
    change(&memory[i], 1, trial);
    memory[i] = static_cast<std::uint8_t>(old ^ ((old ^ memory[i]) & allowed(i)));
  }
}

}  // namespace svd::test
