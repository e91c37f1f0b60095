// SPDX-License-Identifier: Apache-2.0
//
// Races that change nothing, looks, and each thing that keeps one from being either, in machine
// code: a thread looks at x while another one goes on to write it.

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
    Block mark = code(0x407000, {{0x89, 0x0f}});                              // mov [rdi],ecx
    Block look = code(0x401000, {{0x8b, 0x07}, {0x85, 0xc0}, {0x74, 0x02}});  // load, test, je 8
    Block copy = code(0x403000, {{0x8b, 0x07}, {0x89, 0x06}});                // and mov [rsi],eax
    Block count = code(0x404000, {{0x83, 0x07, 0x01}});                       // add [rdi],1
    Block follow = code(0x405000, {{0x8b, 0x07}, {0x8b, 0x08}});              // and mov ecx,[rax]
    Block wide = code(0x406000, {{0x0f, 0x10, 0x07}});                        // movups xmm0,[rdi]
    store.slots = {Slot{.instruction = 0, .size = 4, .write = true}};
    look.slots = {Slot{.instruction = 0, .size = 4}};
    copy.slots = {Slot{.instruction = 0, .size = 4},
                  Slot{.instruction = 1, .size = 4, .write = true}};
    count.slots = {Slot{.instruction = 0, .size = 4},
                   Slot{.instruction = 0, .size = 4, .write = true}};
    follow.slots = {Slot{.instruction = 0, .size = 4}, Slot{.instruction = 1, .size = 4}};
    wide.slots = {Slot{.instruction = 0, .size = 16}};
    mark.slots = store.slots;
    store_ = writer().add(store);
    mark_ = writer().add(mark);
    count_ = writer().add(count);
    follow_ = writer().add(follow);
    wide_ = writer().add(wide);
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
  // What follows from nothing that it read.
  void mark(std::uint64_t value) {
    writer().run(kReader);
    writer().exec(mark_, &kX, &value);
  }
  void count(std::uint64_t value, ThreadId thread) {
    std::uint64_t places[] = {kX, kX}, values[] = {value, value + 1};
    writer().run(thread);
    writer().exec(count_, places, values);
  }
  // By a load and a store.
  void update(std::uint64_t from, std::uint64_t to) {
    std::uint64_t places[] = {kX, kX}, values[] = {from, to};
    writer().run(kWriter);
    writer().exec(copy_, places, values);
  }
  void follow(std::uint64_t value) {
    std::uint64_t places[] = {kX, value}, values[] = {value, 0};
    writer().run(kReader);
    writer().exec(follow_, places, values);
  }
  void look_at_more() {
    writer().run(kReader);
    writer().exec(wide_, &kX, nullptr);
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
    std::vector<Harm> harms = judged();
    return {harms.size(),
            static_cast<std::size_t>(std::count(harms.begin(), harms.end(), Harm::kNone))};
  }

  // What each race does; `third`: as violations whose last access is the second one once more.
  std::vector<Harm> judged(bool third = false) {
    TraceReader trace = trace_.finish();
    Rules rules;
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
    std::vector<const RawFinding*> all;
    for (RawFinding& race : found) {
      if (third) race.accesses.push_back(race.accesses.back());
      all.push_back(&race);
    }
    return harm(scan.preparation(), all);
  }

 private:
  TraceWriter& writer() { return trace_.writer(); }

  TraceBuilder trace_;
  BlockId store_, mark_, look_, copy_, count_, follow_, wide_, next_, other_;
};

using Races = std::pair<std::size_t, std::size_t>;

TEST(Harmless, IsALookThatGoesTheSameWayWithEitherValue) {
  Program run;
  run.look(1, false);
  run.write(2);
  run.look(2, false);
  EXPECT_EQ(run.races(), Races(1, 1));
}

// Its store by itself is as any other.
TEST(Harmless, IsALookAtWhatTwoInstructionsUpdate) {
  Program run;
  run.look(1, false);
  run.update(1, 2);
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

// "Is it me?": another thread's number is not mine, whichever it is.
TEST(Harmless, IsAQuestionThatOthersValuesAllAnswerAlike) {
  Program run;
  run.look(1, false);
  run.write(2);
  run.look(2, false);
  run.mark(7);
  run.look(7, true);
  std::vector<Harm> harms = run.judged();  // the reader's write over the writer's is a race, too
  EXPECT_EQ(std::count(harms.begin(), harms.end(), Harm::kNone), 1);
  EXPECT_EQ(harms.size(), 2U);
}

// In the other order the thread would have found its own value.
TEST(Harmless, IsNoQuestionWhetherTheOwnValueIsStillThere) {
  Program run;
  run.look(1, false);
  run.mark(7);
  run.look(7, true);
  run.write(2);
  run.look(2, false);
  for (Harm each : run.judged()) EXPECT_NE(each, Harm::kNone);
}

// It saw its own write; the writer's had been overwritten by it, or would have come later still.
TEST(Harmless, IsAReadOfWhatCameBetween) {
  Program run;
  run.write(2);
  run.mark(4);
  run.copy(4);
  std::vector<Harm> harms = run.judged();
  ASSERT_EQ(harms.size(), 2U);
  EXPECT_EQ(harms, (std::vector{Harm::kSome, Harm::kNone}));
}

// An update is a read and a write: that another write came between says nothing about its read.
TEST(Harmless, IsNoReadOfAnUpdate) {
  Program run;
  run.count(1, kReader);
  run.mark(5);
  run.write(7);
  run.look(7, true);
  std::vector<Harm> harms = run.judged();
  EXPECT_EQ(std::count(harms.begin(), harms.end(), Harm::kNone), 0);
}

TEST(Harmless, AreTwoWritesOfOneValue) {
  Program run;
  run.write(3);
  run.mark(3);
  run.look(3, true);
  EXPECT_EQ(run.judged().front(), Harm::kNone);
}

TEST(Harmless, AreNoTwoWritesOfDifferentValues) {
  Program run;
  run.write(3);
  run.mark(4);
  run.look(4, true);
  EXPECT_EQ(run.judged().front(), Harm::kSome);
}

TEST(Harmless, IsACounterThatNobodyLooksAt) {
  Program run;
  run.count(1, kWriter);
  run.count(2, kReader);
  run.count(3, kWriter);
  auto [races, harmless] = run.races();
  EXPECT_EQ(races, 2U);
  EXPECT_EQ(harmless, races);
}

TEST(Harmless, IsNoCounterThatSomebodyLooksAt) {
  Program run;
  run.count(1, kWriter);
  run.count(2, kReader);
  run.count(3, kWriter);
  run.look(4, true);
  EXPECT_EQ(run.races().second, 0U);
}

// What a unit read is as if it had been read after the other thread's write.
TEST(Harmless, IsAViolationWhoseReadIs) {
  Program run;
  run.look(1, false);
  run.write(2);
  EXPECT_EQ(run.judged(true), std::vector{Harm::kSome});
  Program known;
  known.look(1, false);
  known.write(2);
  known.look(2, false);
  EXPECT_EQ(known.judged(true), std::vector{Harm::kNone});
}

TEST(Look, IsOneInstructionThatReadsAndOneThatWrites) {
  Program run;
  run.copy(1);
  run.write(2);
  EXPECT_EQ(run.judged(), std::vector{Harm::kLook});
}

TEST(Look, IsNoUpdateThatCanBeLost) {
  Program run;
  run.count(1, kWriter);
  run.count(2, kReader);
  run.look(3, true);
  std::vector<Harm> harms = run.judged();  // read and write, write and write
  EXPECT_EQ(std::count(harms.begin(), harms.end(), Harm::kSome), 1);
}

// Where it leads to may not be ready.
TEST(Look, IsNoPointerThatIsFollowed) {
  Program run;
  run.write(kY);
  run.follow(kY);
  EXPECT_EQ(run.judged(), std::vector{Harm::kSome});
}

TEST(Look, IsNothingOfSeveralWords) {
  Program run;
  run.write(2);
  run.look_at_more();
  EXPECT_EQ(run.judged(), std::vector{Harm::kSome});
}

// In a log there are names, and nothing of how they were accessed.
TEST(Look, IsNoneInAnAbstractTrace) {
  TraceBuilder trace;
  Var x = trace.var("x");
  trace.thread(1).exec("1.1", {w(x, 1)});
  trace.thread(2).exec("2.1", {r(x, 1)});
  TraceReader reader = trace.finish();
  Rules rules;
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
  std::vector<const RawFinding*> all{&found.front()};
  EXPECT_EQ(harm(scan.preparation(), all), std::vector{Harm::kSome});
}

}  // namespace
}  // namespace svd::test
