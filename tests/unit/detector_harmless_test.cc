// SPDX-License-Identifier: Apache-2.0
//
// Races that change nothing, and each thing that keeps one from being harmless, in machine code: a
// thread looks at x while another one goes on to write it.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "detectors/harmless.h"
#include "detectors/races.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

constexpr std::uint64_t kX = 0x5000, kY = 0x6000;
constexpr ThreadId kWriter{1}, kReader{2};

Block code(std::uint64_t at, std::initializer_list<std::vector<std::uint8_t>> instructions) {
  Block block;
  for (const auto& bytes : instructions) {
    block.instructions.push_back({Pc(at), static_cast<std::uint8_t>(bytes.size())});
    block.code.insert(block.code.end(), bytes.begin(), bytes.end());
    at += bytes.size();
  }
  return block;
}

class Program {
 public:
  Program() {
    Block store = code(0x402000, {{0x89, 0x07}});                             // mov [rdi],eax
    Block look = code(0x401000, {{0x8b, 0x07}, {0x85, 0xc0}, {0x74, 0x02}});  // load, test, je 8
    Block copy = code(0x403000, {{0x8b, 0x07}, {0x89, 0x06}});                // and mov [rsi],eax
    store.slots = {Slot{.instruction = 0, .size = 4, .write = true}};
    look.slots = {Slot{.instruction = 0, .size = 4}};
    copy.slots = {Slot{.instruction = 0, .size = 4},
                  Slot{.instruction = 1, .size = 4, .write = true}};
    store_ = writer().add(store);
    look_ = writer().add(look);
    copy_ = writer().add(copy);
    next_ = writer().add(code(0x401006, {{0x90}}));
    other_ = writer().add(code(0x401008, {{0x90}}));
    write(1);
    writer().event(kWriter, ThreadCreate{.child = kReader, .routine = Pc(0x401000)});
  }

  void write(std::uint64_t value) {
    writer().run(kWriter);
    writer().exec(store_, &kX, &value);
  }
  // The branch is taken, or not.
  void look(std::uint64_t value, bool taken) {
    writer().run(kReader);
    writer().exec(look_, &kX, &value);
    writer().exec(taken ? other_ : next_, nullptr, nullptr);
  }
  void copy(std::uint64_t value) {
    std::uint64_t places[] = {kX, kY}, values[] = {value, value};
    writer().run(kReader);
    writer().exec(copy_, places, values);
  }

  // How many races there are, and how many of them are harmless.
  std::pair<std::size_t, std::size_t> races() {
    TraceReader trace = trace_.finish();
    Suppressions rules;
    NoNames names;
    LockSets lock_sets;
    Scan scan(trace, rules, names, lock_sets);
    RaceDetector detector("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
    scan.add(detector);
    Chunk chunk;
    for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
      SVD_CHECK(trace.decode(i, chunk));
      scan.chunk(i, chunk);
    }
    std::vector<RawFinding> found = detector.findings();
    std::vector<bool> none = harmless(scan.preparation(), found);
    return {found.size(), static_cast<std::size_t>(std::count(none.begin(), none.end(), true))};
  }

 private:
  TraceWriter& writer() { return trace_.writer(); }

  TraceBuilder trace_;
  BlockId store_, look_, copy_, next_, other_;
};

using Races = std::pair<std::size_t, std::size_t>;

TEST(Harmless, IsALookThatGoesTheSameWayWithEitherValue) {
  Program run;
  run.look(1, false);
  run.write(2);
  run.look(2, false);
  EXPECT_EQ(run.races(), Races(1, 1));
}

TEST(Harmless, IsNoLookThatDecidesInTwoWays) {
  Program run;
  run.look(1, false);
  run.write(0);
  run.look(0, true);
  EXPECT_EQ(run.races(), Races(1, 0));
}

// Nobody knows which way it would have gone with 2.
TEST(Harmless, IsNoLookWhoseOtherValueWasNeverSeen) {
  Program run;
  run.look(1, false);
  run.write(2);
  EXPECT_EQ(run.races(), Races(1, 0));
}

TEST(Harmless, IsNothingThatIsKept) {
  Program run;
  run.copy(1);
  run.write(2);
  run.copy(2);
  EXPECT_EQ(run.races(), Races(1, 0));
}

// The same place decides nothing with the value that it races about, and something with others.
TEST(Harmless, IsJudgedByAllThatThePlaceRead) {
  Program run;
  run.look(1, false);
  run.write(2);
  run.look(2, false);
  run.write(0);
  run.look(0, true);
  EXPECT_EQ(run.races(), Races(1, 0));
}

TEST(Harmless, IsNoRaceOfTwoWrites) {
  TraceBuilder trace;
  Var x = trace.var("x");
  trace.thread(1).exec("1.1", {w(x, 1)});
  trace.thread(2).exec("2.1", {w(x, 1)});
  TraceReader reader = trace.finish();
  Suppressions rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(reader, rules, names, lock_sets);
  RaceDetector detector("race-hb", RaceDetector::Mode::kHappensBefore, scan.threads(), lock_sets);
  scan.add(detector);
  Chunk chunk;
  SVD_CHECK(reader.decode(0, chunk));
  scan.chunk(0, chunk);
  std::vector<RawFinding> found = detector.findings();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(harmless(scan.preparation(), found), std::vector<bool>{false});
}

}  // namespace
}  // namespace svd::test
