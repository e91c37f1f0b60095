// SPDX-License-Identifier: Apache-2.0
//
// Files that keep the newest part of a run: their size, what is in them, and what a reader makes of
// them when they are finished, interrupted at any write, or truncated.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "support/small_trace.h"
#include "svd/trace/copy.h"
#include "svd/trace/reader.h"
#include "svd/trace/writer.h"

namespace svd::test {
namespace {

constexpr std::uint64_t kKept = 64U << 10;
constexpr std::uint32_t kChunkSteps = 3000;

// Counts what is dropped; tells one note that says so.
class Counter : public TraceEdge {
 public:
  void drop(ThreadId, const EventBody& body) override {
    const auto* note = std::get_if<Note>(&body);
    if (note != nullptr) last = std::string(note->text);
    ++events;
  }
  void restate(const Tell& tell) const override { tell(ThreadId(1), ThreadName{"restated"}); }

  std::uint64_t events = 0;
  std::string last;
};

struct LongRun {
  Counter edge;
  std::unique_ptr<TraceWriter> writer;
  BlockId block;
  std::mt19937_64 random{7};
  std::uint64_t rounds = 0;

  explicit LongRun(const std::string& path) {
    Process process;
    process.executable = "/bin/ring";
    process.keep_newest = kKept;
    WriterOptions options;
    options.edge = &edge;
    options.chunk_steps = kChunkSteps;
    auto created = TraceWriter::create(path, process, options);
    if (!created) throw std::runtime_error(created.error().describe());
    writer = std::move(*created);
    writer->event(ThreadId(1), ThreadStart{ThreadId(1), 1, Addr(), 0, "main"});
    Block code;
    code.instructions.push_back({Pc(0x1000), 3});
    code.code = {0x48, 0x89, 0x07};
    code.slots.push_back(Slot{.instruction = 0, .size = 8, .write = true});
    block = writer->add(code);
  }

  static std::uint64_t value(std::mt19937_64& random, std::uint64_t round) {
    return random() >> (round / 5000 % 8 * 8);
  }

  // Values that nothing predicts, in chunks of different sizes; a new block now and then.
  void go(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++rounds) {
      if (rounds % 1000 == 0) {
        writer->event(ThreadId(1), Note{std::to_string(rounds)});
        Block code;
        code.instructions.push_back({Pc(0x2000 + rounds), 1});
        code.code = {0x90};
        writer->add(code);
      }
      std::uint64_t address = 0x7000 + random() % 4096 * 8;
      std::uint64_t stored = value(random, rounds);
      writer->run(ThreadId(1 + rounds / 40'000 % 2));
      writer->exec(block, &address, &stored);
    }
  }
};

std::uint64_t sum_of_values(const TraceReader& trace, Diagnostics& diagnostics, std::uint64_t& n) {
  std::uint64_t sum = 0;
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    for (std::uint64_t value : chunk.values) sum += value, ++n;
    return true;
  });
  return sum;
}

// The same of the run itself, from instruction `first` to before `end`.
std::uint64_t expected_sum(std::uint64_t first, std::uint64_t end) {
  std::mt19937_64 random(7);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < end; ++i) {
    (void)random();
    std::uint64_t value = LongRun::value(random, i);
    if (i >= first) sum += value;
  }
  return sum;
}

class KeepNewest : public testing::Test {
 protected:
  std::string path_ = temp_path("ring.fb");
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(KeepNewest, AShortRunIsAllThere) {
  LongRun run(path_);
  run.go(2000);
  ASSERT_TRUE(run.writer->finish());
  auto trace = TraceReader::open(path_);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->complete());
  EXPECT_EQ(trace->steps(), 2000U);
  EXPECT_EQ(run.edge.events, 0U);
  EXPECT_EQ(run.writer->totals().dropped, 0U);
}

TEST_F(KeepNewest, ALongRunKeepsItsEnd) {
  constexpr std::uint64_t kRounds = 300'000;
  LongRun run(path_);
  run.go(kRounds);
  ASSERT_TRUE(run.writer->finish());
  TraceWriter::Totals totals = run.writer->totals();
  EXPECT_EQ(totals.steps + totals.dropped, kRounds);
  EXPECT_GT(totals.dropped, 0U);
  EXPECT_LT(std::filesystem::file_size(path_), 2 * kKept);

  auto trace = TraceReader::open(path_);
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->complete());
  EXPECT_EQ(trace->steps(), totals.steps);
  EXPECT_EQ(trace->first_seq(), Seq(totals.dropped));
  EXPECT_EQ(trace->chunks().back().end_seq(), Seq(kRounds));
  EXPECT_EQ(trace->ending().thread, std::nullopt);
  EXPECT_EQ(trace->blocks().size(), 1 + kRounds / 1000);
  std::uint64_t of_threads = 0;
  for (const ThreadInfo& thread : trace->threads()) of_threads += thread.steps;
  EXPECT_EQ(of_threads, totals.steps);
  EXPECT_EQ(trace->threads().front().name, "main");

  // The values are the last ones that were written.
  Diagnostics diagnostics = trace->diagnostics();
  std::uint64_t n = 0;
  EXPECT_EQ(sum_of_values(*trace, diagnostics, n), expected_sum(totals.dropped, kRounds));
  EXPECT_EQ(n, totals.steps);
  EXPECT_FALSE(diagnostics.any_loss());

  Chunk chunk;
  ASSERT_TRUE(trace->decode(0, chunk));
  ASSERT_EQ(chunk.events.size(), 2U);
  const auto* gap = std::get_if<Gap>(&chunk.events[0].body);
  ASSERT_NE(gap, nullptr);
  EXPECT_EQ(gap->cause, GapCause::kBeforeWindow);
  EXPECT_EQ(gap->instructions, totals.dropped);
  EXPECT_TRUE(std::holds_alternative<ThreadName>(chunk.events[1].body));
}

TEST_F(KeepNewest, WithoutItsIndexItSaysTheSame) {
  {
    LongRun run(path_);
    run.go(200'000);
    ASSERT_TRUE(run.writer->finish());
  }
  auto whole = TraceReader::open(path_);
  ASSERT_TRUE(whole);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 8);
  auto walked = TraceReader::open(path_);
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->steps(), whole->steps());
  EXPECT_EQ(walked->first_seq(), whole->first_seq());
  ASSERT_EQ(walked->chunks().size(), whole->chunks().size());
  for (std::size_t i = 0; i < whole->chunks().size(); ++i)
    EXPECT_EQ(walked->chunks()[i].first_seq, whole->chunks()[i].first_seq) << i;
  // Of threads that are gone only the index knows.
  for (const ThreadInfo& thread : walked->threads()) {
    auto same = std::find_if(whole->threads().begin(), whole->threads().end(),
                             [&](const ThreadInfo& other) { return other.id == thread.id; });
    ASSERT_NE(same, whole->threads().end());
    EXPECT_EQ(thread.steps, same->steps);
    EXPECT_EQ(thread.last_seq, same->last_seq);
  }
}

// A writer that is killed leaves what a copy of the file shows after each chunk.
TEST_F(KeepNewest, AtEveryMomentItCanBeRead) {
  LongRun run(path_);
  std::string copy = path_ + ".copy";
  for (int moment = 0; moment < 60; ++moment) {
    run.go(1700);
    ASSERT_TRUE(run.writer->flush());
    std::filesystem::copy_file(path_, copy, std::filesystem::copy_options::overwrite_existing);
    auto trace = TraceReader::open(copy);
    ASSERT_TRUE(trace);
    std::uint64_t dropped = run.writer->totals().dropped;
    EXPECT_EQ(trace->steps(), run.writer->totals().steps);
    EXPECT_EQ(trace->steps() + dropped, run.rounds);
    std::string missing;
    for (const Diagnostic& d : trace->diagnostics().list()) missing += d.name + " ";
    EXPECT_EQ(missing, dropped > 0 ? "missing-edge missing-end " : "missing-end ") << moment;
  }
  EXPECT_GT(run.writer->totals().dropped, 0U);
  std::filesystem::remove(copy);
}

TEST_F(KeepNewest, KilledAtAnyMomentItIsWhole) {
  std::mt19937 when(42);
  std::uint64_t most = 0;
  for (int round = 0; round < 60; ++round) {
    std::filesystem::remove(path_);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (LongRun run(path_);;) run.go(1000);
    }
    while (!std::filesystem::exists(path_) || std::filesystem::file_size(path_) < kKept / 2)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(when() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    auto trace = TraceReader::open(path_);
    ASSERT_TRUE(trace) << trace.error().describe();
    Diagnostics diagnostics = trace->diagnostics();
    std::uint64_t n = 0;
    std::uint64_t first = trace->first_seq().value;
    ASSERT_EQ(sum_of_values(*trace, diagnostics, n), expected_sum(first, first + trace->steps()));
    ASSERT_EQ(n, trace->steps());
    ASSERT_EQ(trace->process().executable, "/bin/ring");
    for (const Diagnostic& d : diagnostics.list())
      ASSERT_THAT(d.name, testing::AnyOf("missing-edge", "missing-end", "damaged-bytes")) << d.text;
    most = std::max(most, first);
  }
  EXPECT_GT(most, 10'000U) << "the writer never got far: the test proves little";
}

TEST_F(KeepNewest, TruncatedAnywhereItIsShorterOrRefused) {
  {
    LongRun run(path_);
    run.go(100'000);
    ASSERT_TRUE(run.writer->finish());
  }
  auto whole = TraceReader::open(path_);
  ASSERT_TRUE(whole);
  std::uint64_t size = std::filesystem::file_size(path_);
  std::string cut = path_ + ".cut";
  for (std::uint64_t length = size - 1; length > 4096;
       length -= std::min<std::uint64_t>(length, 997)) {
    std::filesystem::copy_file(path_, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, length);
    auto trace = TraceReader::open(cut);
    if (!trace) continue;
    EXPECT_LE(trace->steps(), whole->steps());
    Diagnostics diagnostics = trace->diagnostics();
    std::uint64_t n = 0;
    sum_of_values(*trace, diagnostics, n);
    EXPECT_LE(n, whole->steps());
  }
  std::filesystem::remove(cut);
}

TEST_F(KeepNewest, AFlippedByteIsNoticed) {
  {
    LongRun run(path_);
    run.go(100'000);
    ASSERT_TRUE(run.writer->finish());
  }
  auto whole = TraceReader::open(path_);
  ASSERT_TRUE(whole);
  std::string bytes = read_file(path_);
  std::string flipped = path_ + ".flipped";
  for (std::size_t at = 7; at < bytes.size(); at += 499) {
    std::string copy = bytes;
    copy[at] = static_cast<char>(copy[at] ^ 0x20);
    write_file(flipped, copy);
    auto trace = TraceReader::open(flipped);
    if (!trace) continue;
    Diagnostics diagnostics = trace->diagnostics();
    std::uint64_t n = 0;
    sum_of_values(*trace, diagnostics, n);
    EXPECT_LE(n, whole->steps()) << at;
    EXPECT_TRUE(n == whole->steps() || diagnostics.any_loss()) << at;
  }
  std::filesystem::remove(flipped);
}

TEST_F(KeepNewest, ACopyHoldsTheSame) {
  {
    LongRun run(path_);
    run.go(100'000);
    ASSERT_TRUE(run.writer->finish());
  }
  auto trace = TraceReader::open(path_);
  ASSERT_TRUE(trace);
  std::string copy = path_ + ".copy";
  auto writer = TraceWriter::create(copy, trace->process());
  ASSERT_TRUE(writer);
  auto copied = copy_trace(*trace, **writer);
  ASSERT_TRUE(copied);
  EXPECT_FALSE(copied->any());
  ASSERT_TRUE((*writer)->finish());
  auto again = TraceReader::open(copy);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->complete());
  EXPECT_EQ(again->steps(), trace->steps());
  EXPECT_EQ(again->first_seq(), Seq());
  std::filesystem::remove(copy);
}

}  // namespace
}  // namespace svd::test
