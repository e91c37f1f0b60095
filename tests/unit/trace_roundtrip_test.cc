// SPDX-License-Identifier: Apache-2.0
//
// What TraceWriter wrote, TraceReader reads: tables, executions, parts, accesses, values, events,
// in the same order.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "support/small_trace.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd {
namespace {

Block load_store_block() {
  Block block;
  block.instructions = {{Pc(0x1000), 3}, {Pc(0x1003), 4}, {Pc(0x1007), 2}};
  block.code.assign(9, 0x90);
  Slot load;
  load.instruction = 0;
  load.size = 8;
  Slot store = load;
  store.instruction = 1;
  store.write = true;
  store.source = AddressSource::kSlot;
  store.base = 0;
  store.offset = 8;
  Slot range;
  range.instruction = 2;
  block.slots = {load, store, range};
  return block;
}

TEST(RoundTrip, ExecutionsAndEvents) {
  std::string path = test::temp_path("roundtrip.fb");
  Process process;
  process.executable = "/bin/example";
  process.arguments = {"example", "-x"};
  {
    auto writer = TraceWriter::create(path, process, WriterOptions{.chunk_steps = 100});
    ASSERT_TRUE(writer) << writer.error().describe();
    TraceWriter& w = **writer;
    BlockId block = w.add(load_store_block());
    w.event(ThreadId(1), ThreadStart{.parent = ThreadId(1), .name = "main"});
    for (std::uint64_t i = 0; i < 1000; ++i) {
      w.run(ThreadId(static_cast<std::uint32_t>(1 + i / 100 % 2)));
      std::uint64_t logged[] = {0x5000 + 16 * i, 0x9000, i % 7};
      std::uint64_t values[] = {i, i * i};
      w.exec(block, logged, values);
      if (i % 50 == 0) w.event(ThreadId(1), Note{.text = std::to_string(i)});
    }
    w.event(ThreadId(1), ProcessEnd{EndKind::kExit, 3});
    ASSERT_TRUE(w.finish());
  }
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->process(), process);
  EXPECT_EQ(reader->steps(), 3000U);
  EXPECT_EQ(reader->ending().value, 3);
  struct Check {
    std::uint64_t i = 0;
    std::uint64_t notes = 0;
    void exec(const Exec& e) {
      EXPECT_EQ(e.seq, Seq(3 * i));
      EXPECT_EQ(e.thread, ThreadId(static_cast<std::uint32_t>(1 + i / 100 % 2)));
      std::vector<MemoryAccess> list;
      e.accesses([&](const MemoryAccess& a) { list.push_back(a); });
      ASSERT_EQ(list.size(), 3U);
      EXPECT_EQ(list[0].address, Addr(0x5000 + 16 * i));
      EXPECT_EQ(list[0].value, i);
      EXPECT_EQ(list[1].address, Addr(0x5008 + 16 * i));
      EXPECT_EQ(list[1].value, i * i);
      EXPECT_EQ(list[2].size, i % 7);
      EXPECT_FALSE(list[2].has_value);
      ++i;
    }
    void event(const Event& e) {
      if (const auto* note = std::get_if<Note>(&e.body)) {
        EXPECT_EQ(note->text, std::to_string(i - 1));
        EXPECT_EQ(e.seq, Seq(3 * i));
        ++notes;
      }
    }
  } check;
  Diagnostics diagnostics;
  reader->scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(check);
    return true;
  });
  EXPECT_TRUE(diagnostics.list().empty());
  EXPECT_EQ(check.i, 1000U);
  EXPECT_EQ(check.notes, 20U);
  std::filesystem::remove(path);
}

// What a walk shows, in order: the first step of each execution and, odd, the place of each event.
struct Visits {
  std::vector<std::uint64_t> list{};
  void exec(const Exec& e) {
    std::uint64_t sum = 0;
    e.accesses([&](const MemoryAccess& a) { sum += a.address.value ^ a.value ^ a.size; });
    list.push_back(2 * (e.seq.value + sum));
  }
  void event(const Event& e) { list.push_back(2 * (e.seq.value * 1000 + e.body.index()) + 1); }
};

class Walks : public testing::Test {
 protected:
  void SetUp() override {
    path_ = test::temp_path("walks.fb");
    test::write_small_trace(path_);
    auto opened = TraceReader::open(path_);
    ASSERT_TRUE(opened);
    reader_ = std::make_unique<TraceReader>(std::move(*opened));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Visits visits(TraceReader::Order order, auto&& walk) {
    Visits seen;
    Diagnostics diagnostics;
    reader_->scan(order, {}, diagnostics, [&](const Chunk& chunk) {
      walk(chunk, seen);
      return true;
    });
    EXPECT_TRUE(diagnostics.list().empty());
    return seen;
  }
  Visits forward() {
    return visits(TraceReader::Order::kForward, [](const Chunk& c, Visits& v) { c.walk(v); });
  }

  std::string path_;
  std::unique_ptr<TraceReader> reader_;
};

TEST_F(Walks, BackwardIsForwardReversed) {
  Visits back =
      visits(TraceReader::Order::kBackward, [](const Chunk& c, Visits& v) { c.walk_back(v); });
  std::reverse(back.list.begin(), back.list.end());
  EXPECT_EQ(back.list, forward().list);
}

TEST_F(Walks, OfThreadsTogetherAreEverything) {
  std::vector<std::uint64_t> all;
  for (const ThreadInfo& thread : reader_->threads()) {
    Visits one = visits(TraceReader::Order::kForward,
                        [&](const Chunk& c, Visits& v) { c.walk_thread(thread.id, v); });
    all.insert(all.end(), one.list.begin(), one.list.end());
  }
  std::vector<std::uint64_t> expected = forward().list;
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
}

TEST_F(Walks, TheChunkOfAnInstructionHoldsIt) {
  for (Seq seq{}; seq.value < reader_->steps(); seq += 1) {
    std::size_t index = reader_->chunk_of(seq);
    ASSERT_LT(index, reader_->chunks().size());
    const ChunkInfo& chunk = reader_->chunks()[index];
    ASSERT_TRUE(chunk.first_seq <= seq && seq < chunk.end_seq()) << seq.value;
  }
  EXPECT_EQ(reader_->chunk_of(Seq(reader_->steps())), reader_->chunks().size());
}

TEST_F(Walks, FromAnySeqAreTheRestOfIt) {
  for (std::uint64_t from = 0; from <= reader_->steps(); ++from) {
    std::size_t index = reader_->chunk_at(Seq(from));
    ASSERT_LT(index, reader_->chunks().size());
    struct FirstSeq {
      Seq from{};
      Seq exec_end{};
      bool event_before = false;
      void exec(const Exec& e) {
        if (exec_end == Seq()) exec_end = e.end();
      }
      void event(const Event& e) { event_before = event_before || e.seq < from; }
    } first{Seq(from)};
    Chunk chunk;
    ASSERT_TRUE(reader_->decode(index, chunk));
    chunk.walk_from(Seq(from), first);
    EXPECT_FALSE(first.event_before);
    if (first.exec_end != Seq()) {
      EXPECT_GT(first.exec_end, Seq(from));
    }
    if (index > 0) {
      EXPECT_LT(reader_->chunks()[index - 1].end_seq(), Seq(from));
    }
  }
}

TEST_F(Walks, WithoutValuesOrAddressesShowTheSameExecutions) {
  for (std::size_t i = 0; i < reader_->chunks().size(); ++i) {
    Chunk all;
    Chunk some;
    ASSERT_TRUE(reader_->decode(i, all));
    ASSERT_TRUE(reader_->decode(i, some, {.values = false}));
    EXPECT_EQ(all.addresses, some.addresses);
    EXPECT_TRUE(some.values.empty());
    ASSERT_TRUE(
        reader_->decode(i, some, {.addresses = false, .values = false, .events = kNoEvents}));
    EXPECT_EQ(all.execs, some.execs);
    EXPECT_TRUE(some.addresses.empty() && some.events.empty());
  }
}

TEST_F(Walks, MayTouchNeverDeniesAnAccess) {
  Chunk chunk;
  for (std::size_t i = 0; i < reader_->chunks().size(); ++i) {
    ASSERT_TRUE(reader_->decode(i, chunk));
    struct Touches {
      const TraceReader& reader;
      std::size_t index;
      void exec(const Exec& e) {
        e.accesses([&](const MemoryAccess& a) {
          if (a.size == 0) return;
          auto may = reader.may_touch(index, a.address, a.size);
          EXPECT_TRUE(may && *may) << a.address.value;
        });
      }
      void event(const Event& /*unused*/) {}
    } touches{*reader_, i};
    chunk.walk(touches);
    auto elsewhere = reader_->may_touch(i, Addr(0x7f0000000000), 64);
    EXPECT_TRUE(elsewhere && !*elsewhere);
  }
}

// The bytes that a run can take fill the chunk before the run's first execution does.
TEST(ThreadSwitches, AtEveryExecutionUntilAChunkIsFull) {
  std::string path = test::temp_path("switches.fb");
  Process process;
  process.has_values = false;
  auto writer = TraceWriter::create(path, process);
  ASSERT_TRUE(writer);
  Block block;
  block.instructions.emplace_back();
  BlockId id = (*writer)->add(block);
  constexpr std::uint64_t kExecs = 1'000'000;
  for (std::uint64_t i = 0; i < kExecs; ++i) {
    (*writer)->run(ThreadId(1 + i % 2));
    (*writer)->exec(id, nullptr, nullptr);
  }
  ASSERT_TRUE((*writer)->finish());
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader);
  EXPECT_GT(reader->chunks().size(), 1U);
  Diagnostics diagnostics;
  std::uint64_t runs = 0;
  reader->scan(TraceReader::Order::kForward, {}, diagnostics, [&runs](const Chunk& chunk) {
    runs += chunk.runs.size();
    return true;
  });
  EXPECT_TRUE(diagnostics.list().empty());
  EXPECT_EQ(runs, kExecs);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace svd
