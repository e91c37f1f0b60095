// SPDX-License-Identifier: Apache-2.0
//
// ByteShadow against a word for every byte, under random operations of all sizes and alignments.

#include "dpdg/byte_shadow.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace svd::test {
namespace {

constexpr std::uint64_t kBase = 0x7fff'0000'0f80;  // near the end of a page

// Every byte of the range in turn, as visit() tells it.
std::map<std::uint64_t, std::uint32_t> told(const ByteShadow<std::uint32_t>& shadow) {
  std::map<std::uint64_t, std::uint32_t> bytes;
  shadow.visit(Addr(kBase), 512, [&bytes](Addr at, unsigned length, std::uint32_t word) {
    for (unsigned i = 0; i < length; ++i) bytes[at.value + i] = word;
  });
  return bytes;
}

TEST(ByteShadow, EveryByteHasItsOwnWord) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    ByteShadow<std::uint32_t> shadow;
    std::map<std::uint64_t, std::uint32_t> plain;
    for (int i = 0; i < 400; ++i) {
      std::uint64_t address = kBase + random() % 400;
      std::uint64_t size = random() % 3 == 0 ? random() % 100 : std::uint64_t{1} << random() % 4;
      if (random() % 2 == 0) address &= ~(size - 1);
      std::uint32_t word = random() % 4;  // 0 is nothing
      switch (random() % 4) {
        case 0:
          shadow.set(Addr(address), size, word);
          for (std::uint64_t b = 0; b < size; ++b) plain[address + b] = word;
          break;
        case 1:
          shadow.update(Addr(address), size,
                        [](Addr, unsigned, std::uint32_t& kept) { kept = (kept + 1) % 4; });
          for (std::uint64_t b = 0; b < size; ++b)
            plain[address + b] = (plain[address + b] + 1) % 4;
          break;
        case 2:
          if (std::uint32_t* one = size == 0 ? nullptr : shadow.single(Addr(address), size)) {
            *one = word;
            for (std::uint64_t b = 0; b < size; ++b) plain[address + b] = word;
          }
          break;
        default:
          shadow.clear(Addr(address), size);
          for (std::uint64_t b = 0; b < size; ++b) plain[address + b] = 0;
      }
      std::erase_if(plain, [](const auto& byte) { return byte.second == 0; });
      ASSERT_EQ(told(shadow), plain) << "round " << round << ", operation " << i;
    }
  }
}

TEST(ByteShadow, ClearingMoreThanThereIsTakesNoMemory) {
  ByteShadow<std::uint32_t> shadow;
  shadow.set(Addr(0x5000), 8, 1);
  shadow.set(Addr(0x9000), 8, 2);
  std::uint64_t before = shadow.memory_bytes();
  shadow.clear(Addr(0x5004), std::uint64_t{1} << 40);
  EXPECT_EQ(shadow.memory_bytes() - before, 2 * sizeof(std::uint32_t));  // parts of one cell
  EXPECT_EQ(shadow.at(Addr(0x5003)), 1U);
  EXPECT_EQ(shadow.at(Addr(0x5004)), 0U);
  EXPECT_EQ(shadow.at(Addr(0x9000)), 0U);
}

}  // namespace
}  // namespace svd::test
