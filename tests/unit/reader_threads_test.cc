// SPDX-License-Identifier: Apache-2.0
//
// One reader, several threads: const methods may run at once, each thread with its own Chunk, and
// all see the same; and what is decoded ahead is what is decoded when it is asked for.

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/content.h"
#include "support/small_trace.h"
#include "svd/trace/chunk_stream.h"
#include "svd/trace/reader.h"

namespace svd::test {
namespace {

TEST(ReaderThreads, SeeTheSame) {
  std::string path = temp_path("threads.fb");
  write_small_trace(path);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  Content expected = read_content(*reader);
  std::vector<Content> seen(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(seen.size());
    for (Content& content : seen) {
      threads.emplace_back([&content, &reader] {
        for (int round = 0; round < 20; ++round) content = read_content(*reader);
      });
    }
  }
  for (const Content& content : seen) EXPECT_TRUE(content == expected);
  std::filesystem::remove(path);
}

// What a stream gives on the processors that this thread may use: index, first seq, and steps (0
// for what is damaged).
using Seen = std::vector<std::array<std::uint64_t, 3>>;
Seen stream(const TraceReader& reader, TraceReader::Order order) {
  Seen seen;
  ChunkStream chunks(reader, order, {});
  while (const ChunkStream::Decoded* next = chunks.next()) {
    if (next->status)
      seen.push_back({next->index, next->chunk.first_seq.value, next->chunk.steps});
    else
      seen.push_back({next->index, 0, 0});
  }
  return seen;
}

TEST(ChunkStream, DecodingAheadGivesTheSame) {
  std::string path = temp_path("ahead.fb");
  write_small_trace(path);
  const ChunkInfo middle = TraceReader::open(path)->chunks()[1];
  std::string bytes = read_file(path);
  bytes[middle.offset + middle.bytes / 2] ^= 1;
  write_file(path, bytes);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  ASSERT_GT(reader->chunks().size(), 3U);
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  for (auto order : {TraceReader::Order::kForward, TraceReader::Order::kBackward}) {
    Seen ahead = stream(*reader, order);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    Seen alone = stream(*reader, order);
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(ahead, alone);
    ASSERT_EQ(ahead.size(), reader->chunks().size());
    std::size_t at = order == TraceReader::Order::kForward ? 1 : ahead.size() - 2;
    EXPECT_EQ(ahead[at], (Seen::value_type{1, 0, 0}));
  }
  std::filesystem::remove(path);
}

TEST(ChunkStream, GivesTheChunksThatAreAskedFor) {
  std::string path = temp_path("some.fb");
  write_small_trace(path);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  std::vector<std::size_t> asked;
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t i = reader->chunks().size(); i-- > round;) asked.push_back(i);
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, asked.size()}) {
    std::vector<std::size_t> some(asked.begin(),
                                  asked.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::size_t> seen;
    ChunkStream chunks(*reader, some, {});
    while (const ChunkStream::Decoded* next = chunks.next()) {
      seen.push_back(next->index);
      EXPECT_EQ(next->chunk.first_seq, reader->chunks()[next->index].first_seq);
    }
    EXPECT_EQ(seen, some);
  }
  std::filesystem::remove(path);
}

TEST(ChunkStream, FinishesEachChunkAfterItsUse) {
  std::string path = temp_path("finish.fb");
  write_small_trace(path);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  for (const cpu_set_t& processors : {all, one}) {
    ASSERT_EQ(sched_setaffinity(0, sizeof processors, &processors), 0);
    std::vector<std::size_t> taken, finished;
    std::array<std::size_t, ChunkStream::kPlaces> used{};  // what their users left there
    ChunkStream chunks(*reader, TraceReader::Order::kBackward, {}, nullptr,
                       [&](const ChunkStream::Decoded& done) {
                         EXPECT_EQ(used[done.place], done.chunk.first_seq.value + 1);
                         finished.push_back(done.index);
                       });
    while (const ChunkStream::Decoded* next = chunks.next()) {
      used[next->place] = next->chunk.first_seq.value + 1;
      taken.push_back(next->index);
    }
    EXPECT_EQ(taken.size(), reader->chunks().size());
    EXPECT_EQ(finished, taken);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  std::filesystem::remove(path);
}

TEST(ChunkStream, CanBeLeftEarly) {
  std::string path = temp_path("early.fb");
  write_small_trace(path);
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  for (std::size_t taken = 0; taken < reader->chunks().size(); ++taken) {
    ChunkStream chunks(*reader, TraceReader::Order::kForward, {});
    for (std::size_t i = 0; i < taken; ++i) {
      const ChunkStream::Decoded* next = chunks.next();
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(next->chunk.first_seq, reader->chunks()[i].first_seq);
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace svd::test
