// SPDX-License-Identifier: Apache-2.0
//
// Addresses, lengths and values of random executions are read as they were written, whatever the
// predictors make of them: accesses of every size, across words, optional ones that did not happen,
// values that memory would foretell and values that it would not, over many turns and chunks.

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <random>

#include "catalog.h"
#include "input_file.h"
#include "support/small_trace.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool once_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t word() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

Block random_block(Random& random, std::uint64_t pc) {
  constexpr std::array<std::uint16_t, 8> kSizes{0, 1, 2, 3, 4, 8, 8, 16};
  Block block;
  block.instructions = {{Pc(pc), 1}};
  block.code = {0x90};
  auto slots = static_cast<std::uint16_t>(random.below(14));
  for (std::uint16_t i = 0; i < slots; ++i) {
    Slot slot;
    slot.size = kSizes[random.below(kSizes.size())];
    slot.write = random.once_in(3);
    slot.optional = random.once_in(8);
    auto base = static_cast<std::uint16_t>(random.below(i + 1U));
    if (slot.optional) {
      // Only logged addresses say that nothing happened.
    } else if (i > base && !block.slots[base].optional && random.once_in(2)) {
      slot.source = AddressSource::kSlot;
      slot.base = base;
      slot.offset = random.below(32) - 16;
    } else if (random.once_in(4)) {
      slot.source = AddressSource::kConstant;
      slot.offset = 0x404000 + random.below(64);
    }
    block.slots.push_back(slot);
  }
  return block;
}

// What an execution is to be read as.
struct Expected {
  std::uint32_t block = 0;
  std::vector<std::uint64_t> addresses{}, lengths{}, values{};
};

std::uint64_t random_value(Random& random, std::uint64_t counter) {
  switch (random.below(4)) {
    case 0:
      return 0;
    case 1:
      return counter;
    case 2:
      return random.below(256);
    default:
      return random.word();
  }
}

class Check {
 public:
  explicit Check(const std::deque<Expected>& expected) : next_(expected.begin()) {}
  void exec(const Exec& e) {
    const Expected& expected = *next_++;
    ASSERT_EQ(e.shape->id.value, expected.block);
    std::size_t ranges = 0;
    for (std::uint32_t i = 0; i < e.shape->accesses; ++i) {
      ASSERT_EQ(e.addresses[i], expected.addresses[i]) << e.seq.value << " slot " << i;
      ASSERT_EQ(e.values[i], expected.values[i]) << e.seq.value << " slot " << i;
      if (e.block().slots[i].is_range()) {
        ASSERT_EQ(e.lengths[ranges], expected.lengths[ranges]);
        ++ranges;
      }
    }
    ++seen_;
  }
  void event(const Event& /*unused*/) {}
  std::size_t seen() const { return seen_; }

 private:
  std::deque<Expected>::const_iterator next_;
  std::size_t seen_ = 0;
};

// The decoder takes the widest instructions of the processor; what others get is the same.
void expect_the_same_from_plain_instructions(const TraceReader& reader) {
  auto file = InputFile::open(reader.path());
  ASSERT_TRUE(file);
  auto catalog = load_catalog(*file);
  ASSERT_TRUE(catalog);
  ChunkDecoder decoder(AccessDecoder::Instructions::kPlain);
  Chunk best, plain;
  for (std::size_t i = 0; i < reader.chunks().size(); ++i) {
    ASSERT_TRUE(reader.decode(i, best));
    ASSERT_TRUE(decode_data(*file, *catalog, catalog->chunks[i], {}, decoder, plain));
    ASSERT_EQ(plain.addresses, best.addresses);
    ASSERT_EQ(plain.lengths, best.lengths);
    ASSERT_EQ(plain.values, best.values);
  }
}

TEST(RoundTrip, RandomAccesses) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    std::string path = test::temp_path("accesses.fb");
    std::deque<Expected> expected;
    std::vector<Block> blocks;
    auto created = TraceWriter::create(path, Process{}, WriterOptions{.chunk_steps = 3000});
    ASSERT_TRUE(created);
    TraceWriter& writer = **created;
    for (std::uint64_t i = 0; i < 12; ++i) {
      blocks.push_back(random_block(random, 0x1000 + i));
      writer.add(blocks.back());
    }
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      Expected exec;
      exec.block = static_cast<std::uint32_t>(random.below(blocks.size()));
      std::vector<std::uint64_t> logged, values;
      for (const Slot& slot : blocks[exec.block].slots) {
        std::uint64_t address = slot.offset;
        if (slot.source == AddressSource::kLogged) {
          address = random.once_in(3) ? 0x5000 + 8 * i : 0x5000 + random.below(100);
          if (slot.optional && random.once_in(3)) address = kAbsent.value;
          logged.push_back(address);
        } else if (slot.source == AddressSource::kSlot) {
          address += exec.addresses[slot.base];
        }
        exec.addresses.push_back(address);
        if (slot.is_range()) {
          exec.lengths.push_back(random.below(100));
          logged.push_back(exec.lengths.back());
        }
        std::uint64_t value = 0;
        if (slot.has_value()) {
          values.push_back(random_value(random, i));
          if (address != kAbsent.value)
            value = values.back() & ~std::uint64_t{0} >> (64 - 8 * slot.size);
        }
        exec.values.push_back(value);
      }
      writer.run(ThreadId(static_cast<std::uint32_t>(1 + random.below(3))));
      writer.exec(BlockId(exec.block), logged.data(), values.data());
      expected.push_back(std::move(exec));
    }
    ASSERT_TRUE(writer.finish());
    auto reader = TraceReader::open(path);
    ASSERT_TRUE(reader) << reader.error().describe();
    EXPECT_GT(reader->chunks().size(), 2U);
    Check check(expected);
    Diagnostics diagnostics;
    reader->scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
      chunk.walk(check);
      return !testing::Test::HasFatalFailure();
    });
    EXPECT_TRUE(diagnostics.list().empty());
    ASSERT_EQ(check.seen(), expected.size()) << "seed " << seed;
    expect_the_same_from_plain_instructions(*reader);
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace svd
