// SPDX-License-Identifier: Apache-2.0
//
// ByteShadow against a word for every byte, under random operations of all sizes and alignments.

#include "dpdg/byte_shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <vector>

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

TEST(ByteShadow, ARangeOfMorePagesThanThereAreReachesItsEnd) {
  ByteShadow<std::uint32_t> shadow;
  shadow.set(Addr(0x9000), 8, 1);
  shadow.clear(Addr(0x4fff), 0x9002 - 0x4fff);  // of its first and last page a part
  EXPECT_EQ(shadow.at(Addr(0x9001)), 0U);
  EXPECT_EQ(shadow.at(Addr(0x9002)), 1U);
}

TEST(ByteShadow, LookingAtMoreThanThereIsTakesNoTime) {
  ByteShadow<std::uint32_t> shadow;
  constexpr std::uint64_t kAll = std::uint64_t{1} << 62;  // in pages, years of one question each
  for (std::uint64_t page : {9U, 5U, 7U}) shadow.set(Addr(page << 12 | 0xffc), 8, 1);
  std::vector<std::uint64_t> told;
  shadow.visit(Addr(0x5ffe), kAll, [&](Addr at, unsigned length, std::uint32_t) {
    told.insert(told.end(), {at.value, length});
  });
  EXPECT_EQ(told, (std::vector<std::uint64_t>{0x5ffe, 2, 0x6000, 4, 0x7ffc, 4, 0x8000, 4, 0x9ffc, 4,
                                              0xa000, 4}));
  EXPECT_FALSE(shadow.any(Addr(0xb000), kAll));
}

// Two tables of pages with the same numbers, the second filled from the first.
TEST(ByteShadow, ACopyTakesTimeInProportion) {
  auto seconds = [](std::uint64_t pages) {
    ByteShadow<std::uint8_t> shadow, copy;
    for (std::uint64_t page = 0; page < pages; ++page) shadow.set(Addr(page << 12), 4096, 1);
    std::clock_t begin = std::clock();
    shadow.visit_all(
        [&](Addr at, unsigned bytes, std::uint8_t word) { copy.set(at, bytes, word); });
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  double small = std::min(seconds(1 << 11), seconds(1 << 11));
  EXPECT_LT(seconds(1 << 14), 24 * small + 0.01);  // 8 times as many
}

}  // namespace
}  // namespace svd::test
