// SPDX-License-Identifier: Apache-2.0
//
// What detectors are made of, against plain containers: sets of bytes, short lists; who accesses
// what; and that what is told in a thread of its own is what was said.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "detectors/accessors.h"
#include "detectors/byte_set.h"
#include "detectors/few.h"
#include "detectors/packed_list.h"
#include "detectors/relay.h"
#include "detectors/scan.h"
#include "detectors/shadow.h"
#include "detectors/two_phase_sharing.h"
#include "dpdg/byte_shadow.h"
#include "support/detector_run.h"

namespace svd::test {
namespace {

TEST(ByteSet, HasTheBytesThatWereAddedAndNotRemoved) {
  constexpr std::uint64_t kBase = 0x7fff'0000'0f80;  // near the end of a page
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    ByteSet bytes;
    std::set<std::uint64_t> plain;
    for (int i = 0; i < 300; ++i) {
      std::uint64_t at = kBase + random() % 400;
      std::uint64_t size = random() % 40 == 0 ? random() % 20'000 : random() % 100;
      bool add = random() % 3 != 0;
      if (add) size %= 20;
      for (std::uint64_t b = at; b < at + size; ++b) {
        if (add) plain.insert(b);
        if (!add) plain.erase(b);
      }
      if (add) bytes.add(Addr(at), size);
      if (!add) bytes.remove(Addr(at), size);
      at = kBase + random() % 400;
      size = random() % 200;
      auto first = plain.lower_bound(at);
      ASSERT_EQ(bytes.any(Addr(at), size), first != plain.end() && *first < at + size);
    }
  }
}

template <std::uint32_t kInPlace>
void is_a_list() {
  std::mt19937 random(2);
  std::vector<Few<int, kInPlace>> lists(3);
  std::vector<std::vector<int>> plain(3);
  for (int i = 0; i < 20'000; ++i) {
    std::size_t a = random() % 3, b = random() % 3;
    int number = static_cast<int>(random() % 10);
    switch (random() % 5) {
      case 0:
        lists[a] = lists[b];
        plain[a] = plain[b];
        break;
      case 1:
        lists[a].erase_if([&](int& n) { return n == number; });
        std::erase(plain[a], number);
        break;
      case 2:
        if (plain[a].empty()) break;
        lists[a].erase(lists[a].begin());
        plain[a].erase(plain[a].begin());
        break;
      default:
        lists[a].add(number);
        plain[a].push_back(number);
    }
    ASSERT_EQ(std::vector<int>(lists[a].begin(), lists[a].end()), plain[a]);
  }
}

TEST(Few, IsAList) {
  is_a_list<1>();
  is_a_list<3>();
}

// Differences, folded.
class NumberCoder {
 public:
  void put(Bytes& bytes, const std::uint32_t& number) {
    put_number(bytes, fold(number - last_));
    last_ = number;
  }
  std::uint32_t get(const std::uint8_t*& at) {
    return last_ += unfold(static_cast<std::uint32_t>(get_number(at)));
  }

 private:
  std::uint32_t last_ = 0;
};

TEST(PackedList, GivesBackWhatWasPut) {
  std::mt19937 random(3);
  PackedList<std::uint32_t, NumberCoder> list;
  std::vector<std::uint32_t> plain;
  for (int i = 0; i < 1'000'000; ++i) {
    plain.push_back(static_cast<std::uint32_t>(random()) >> random() % 32);
    list.push_back(plain.back());
  }
  for (std::size_t begin : {0U, 1U, 511U, 512U, 700'001U, 1'000'000U}) {
    for (std::size_t end : {std::size_t{700'001}, plain.size()}) {
      std::vector<std::uint32_t> some;
      std::vector<std::uint32_t> expected(plain.data() + std::min(begin, end), plain.data() + end);
      list.each(begin, end, [&some](std::uint32_t number) { some.push_back(number); });
      EXPECT_EQ(some, expected);
    }
  }
  for (std::size_t i = 0; i < plain.size(); i += 97) ASSERT_EQ(list[i], plain[i]);
  for (unsigned apart : {1U, 3U, 5000U}) {
    std::vector<std::uint32_t> numbers, some, expected;
    for (std::uint32_t i = 0; i < plain.size(); i += 1 + static_cast<unsigned>(random()) % apart) {
      numbers.push_back(i);
      expected.push_back(plain[i]);
    }
    list.each_of(numbers, [&some](std::uint32_t number) { some.push_back(number); });
    EXPECT_EQ(some, expected);
  }
}

// Also of a range that claims more than there is.
TEST(Memory, EndsWhereAddressesEnd) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  for (std::uint64_t size : {std::uint64_t{16}, std::uint64_t{4096}, kLast}) {
    Addr last(kLast - 15), first(kLast - std::max<std::uint64_t>(size, 16) + 1);
    ByteSet bytes;
    bytes.add(last, 16);
    EXPECT_TRUE(bytes.any(first, size));
    bytes.remove(last, size);
    EXPECT_FALSE(bytes.any(first, size));

    ByteShadow<int> words;
    words.set(last, 16, 1);
    EXPECT_TRUE(words.any(first, size));
    words.clear(last, size);
    EXPECT_FALSE(words.any(first, size));

    Shadow<int> cells;
    cells.touch(last, 16, [](int& cell, Addr, std::uint64_t) { cell = 1; });
    int sum = 0;
    auto add = [&sum](int& cell, Addr, std::uint64_t) { sum += cell; };
    cells.visit(first, size, add);
    EXPECT_EQ(sum, 2);
    cells.clear(last, size);
    cells.visit(first, size, add);
    EXPECT_EQ(sum, 2);
  }
}

// Writes down what it is told.
class Diary final : public Detector {
 public:
  explicit Diary(bool follows = true) : follows_(follows) {}
  void acquire(ThreadIndex t, ChannelId c, EdgeKind, Moment m) override {
    note("acquire", t.value + c.value, m.value);
  }
  void release(ThreadIndex t, ChannelId c, EdgeKind, Moment m) override {
    note("release", t.value + c.value, m.value);
  }
  void access(const Touch& access) override {
    if (access.size == 0) throw std::runtime_error("nothing");
    note("access", access.address.value, access.size);
  }
  void fresh(Addr address, std::uint64_t size) override { note("fresh", address.value, size); }
  void atomic_block(ThreadIndex t, bool begins, Moment) override {
    note("atomic", t.value, begins ? 1 : 0);
  }
  bool follows_execution() const override { return follows_; }
  void executed(const Exec& exec, ThreadIndex t, Moment first) override {
    note("executed", exec.seq.value, t.value);
    note("at", first.value, t.value);
  }
  void happened(const Event& event, ThreadIndex t) override {
    note("happened", event.seq.value, t.value);
  }
  std::vector<RawFinding> findings() override { return {}; }

  std::vector<std::string> notes;

 private:
  void note(const char* what, std::uint64_t a, std::uint64_t b) {
    notes.push_back(what + std::to_string(a) + " " + std::to_string(b));
  }

  bool follows_;
};

// Takes everything.
class Patient final : public Detector {
 public:
  explicit Patient(bool follows) : follows_(follows) {}
  void access(const Touch&) override {}
  void fresh(Addr, std::uint64_t) override { ++fresh_memory; }
  bool follows_execution() const override { return follows_; }
  std::vector<RawFinding> findings() override { return {}; }

  int fresh_memory = 0;

 private:
  bool follows_;
};

// A stretch of executions of one step, and events, which stand in it in this order.
class Stretch {
 public:
  Stretch() {
    chunk_.shapes.resize(1);
    chunk_.shapes[0].part.end = 1;
    chunk_.runs.resize(1);
  }
  void exec() {
    chunk_.execs.push_back(0);
    ++chunk_.runs[0].exec_count;
  }
  void event() {
    auto execs = static_cast<std::uint32_t>(chunk_.execs.size());
    chunk_.events.push_back({Seq(execs), execs, {}, {}});
  }
  const Chunk& chunk() const { return chunk_; }

 private:
  Chunk chunk_;
};

// Be it different bytes, or in another lifetime.
TEST(Accessors, AreThoseOfABlockInTheWholeRun) {
  SharingScan scan;
  auto access = [&scan](std::uint64_t address, std::uint64_t size, std::uint16_t thread) {
    scan.access({.address = Addr(address), .size = size, .thread = ThreadIndex(thread)});
  };
  access(0x1000, 8, 0);
  access(0x2000, 2, 0);
  access(0x2002, 1, 1);
  access(0x3ffe, 4, 1);
  access(0x5000, 4, 0);
  scan.fresh(Addr(0x5000), 4);
  access(0x5000, 4, 1);
  access(0x6000, 4, 300);
  Accessors accessors = std::move(scan.take().accessors);
  auto others = [&accessors](std::uint64_t address) {
    std::string text;
    for (std::uint32_t thread = 1; thread <= 2; ++thread)
      text += accessors.other_than(thread, address / Accessors::kBlock) ? "y" : "n";
    return text;
  };
  EXPECT_EQ(others(0x0ffc), "nn");
  EXPECT_EQ(others(0x1000), "ny");
  EXPECT_EQ(others(0x1004), "ny");
  EXPECT_EQ(others(0x1008), "nn");
  EXPECT_EQ(others(0x2000), "yy");
  EXPECT_EQ(others(0x3ffc), "yn");
  EXPECT_EQ(others(0x4000), "yn");
  EXPECT_EQ(others(0x5000), "yy");
  EXPECT_EQ(others(0x6000), "yy");
  EXPECT_TRUE(accessors.other_than(301, 0x6000 / Accessors::kBlock));
}

TEST(Relay, TellsAllInOrder) {
  std::mt19937 random(4);
  Diary direct, told, also, listening(false), listened(false);
  Relay relay({&told, &also}), apart({&listened});
  for (int round = 0; round < 20; ++round) {
    std::vector<unsigned> kinds(random() % 30000);
    Stretch stretch;
    for (unsigned& kind : kinds) {
      kind = static_cast<unsigned>(random() % 7);
      if (kind == 5) stretch.exec();
      if (kind == 6) stretch.event();
    }
    relay.begin(stretch.chunk(), Moment(1));
    apart.begin(stretch.chunk(), Moment(1));
    Exec exec;
    std::size_t event = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      ThreadIndex thread(static_cast<std::uint16_t>(random() % 4));
      Touch touch;
      touch.address = Addr(random());
      touch.size = 1 + (random() % 8 == 0 ? random() : random() % 8);
      for (Detector* detector :
           std::initializer_list<Detector*>{&direct, &relay, &listening, &apart}) {
        if (kinds[i] == 0) detector->acquire(thread, ChannelId(7), EdgeKind::kLock, Moment(i));
        if (kinds[i] == 1) detector->release(thread, ChannelId(8), EdgeKind::kLock, Moment(i));
        if (kinds[i] == 2) detector->access(touch);
        if (kinds[i] == 3) detector->fresh(touch.address, touch.size);
        if (kinds[i] == 4) detector->atomic_block(thread, i % 2 == 0, Moment(i));
        if (!detector->follows_execution()) continue;
        if (kinds[i] == 5) detector->executed(exec, thread, Moment(1 + exec.seq.value + event));
        if (kinds[i] == 6) detector->happened(stretch.chunk().events[event], thread);
      }
      if (kinds[i] == 5) exec.seq += 1;
      if (kinds[i] == 6) ++event;
    }
    relay.end();
    apart.end();
    ASSERT_EQ(relay.finish(), nullptr);
    ASSERT_EQ(apart.finish(), nullptr);
    ASSERT_EQ(told.notes, direct.notes);
    ASSERT_EQ(also.notes, direct.notes);
    ASSERT_EQ(listened.notes, listening.notes);
  }
}

TEST(Relay, AnAccessArrivesAsItWas) {
  class Last final : public Detector {
   public:
    void access(const Touch& access) override { last = access; }
    void fresh(Addr, std::uint64_t) override {}
    std::vector<RawFinding> findings() override { return {}; }
    Touch last;
  } told;
  Relay relay({&told});
  Chunk chunk;
  for (std::uint64_t size : {8U, 0xffffU, 0x10000U, 0x10008U}) {
    for (bool flag : {false, true}) {
      Touch touch{Moment(70000),
                  Addr(0x1234567890),
                  size,
                  SiteId(5),
                  ThreadIndex(3),
                  LockSetId(999),
                  flag ? TouchKind::kWrite : TouchKind::kFree,
                  flag,
                  !flag};
      relay.begin(chunk, Moment(1));
      relay.access(touch);
      relay.end();
      EXPECT_EQ(relay.finish(), nullptr);
      auto all = [](const Touch& t) {
        return std::tuple(t.moment, t.address, t.size, t.site, t.thread, t.locks, t.kind, t.atomic,
                          t.shared);
      };
      EXPECT_EQ(all(told.last), all(touch));
    }
  }
}

TEST(Relay, AFailureComesBackAtTheEndOfTheStretch) {
  for (bool follows : {true, false}) {
    Diary diary(follows);
    Patient other(follows);
    Relay relay({&diary, &other});
    Chunk chunk;
    relay.begin(chunk, Moment(1));
    relay.access({});
    relay.fresh(Addr(1), 1);
    relay.end();
    EXPECT_THROW(std::rethrow_exception(relay.finish()), std::runtime_error);
    EXPECT_TRUE(diary.notes.empty());
    relay.begin(chunk, Moment(1));
    relay.fresh(Addr(2), 1);
    relay.end();
    EXPECT_EQ(relay.finish(), nullptr);
    EXPECT_TRUE(diary.notes.empty());  // what failed is told no more
    EXPECT_EQ(other.fresh_memory, 2);  // the others are
  }
}

TEST(Relay, OneIsToldWhileTheOneBeforeIsFollowed) {
  Diary direct, told;
  Relay relay({&told});
  std::mt19937 random(5);
  std::deque<Stretch> stretches(100);
  std::size_t finished = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    Stretch& stretch = stretches[i];
    std::size_t execs = random() % 1000;
    for (std::size_t k = 0; k < execs; ++k) stretch.exec();
    auto finish = [&] {
      EXPECT_EQ(relay.finish(), nullptr);
      ++finished;
    };
    if (i - finished == 2) finish();
    relay.begin(stretch.chunk(), Moment(1));
    for (Exec exec; exec.seq.value < execs; exec.seq += 1) {
      for (Detector* detector : std::initializer_list<Detector*>{&direct, &relay}) {
        detector->executed(exec, ThreadIndex(1), Moment(1 + exec.seq.value));
        for (std::size_t k = exec.seq.value; k < i; ++k) detector->fresh(Addr(k), 1 + i);
      }
    }
    relay.end();
    if (random() % 3 == 0) finish();
  }
  for (; finished < stretches.size(); ++finished) ASSERT_EQ(relay.finish(), nullptr);
  EXPECT_EQ(told.notes, direct.notes);
}

TEST(Relay, OfAnAbandonedStretchNoMoreIsHeard) {
  Diary diary;
  Relay relay({&diary});
  Stretch stretch;
  for (int i = 0; i < 5000; ++i) stretch.exec();
  relay.begin(stretch.chunk(), Moment(1));
  for (int i = 0; i < 3000; ++i) relay.executed({}, ThreadIndex(1), Moment(1));
  relay.abandon();
  EXPECT_LE(diary.notes.size(), 2U * 3000);
}

TEST(Relay, EndsInTheMiddleOfAStretch) {
  Diary diary;
  Stretch stretch;
  for (int i = 0; i < 5000; ++i) stretch.exec();
  Relay relay({&diary});
  relay.begin(stretch.chunk(), Moment(1));
  relay.executed({}, ThreadIndex(1), Moment(1));
}

// Chunks and detectors may go when it has failed, though others are slow.
TEST(Scan, AWalkThatFailsLeavesNobodyBehind) {
  struct Follower : Detector {
    void access(const Touch&) override {}
    void fresh(Addr, std::uint64_t) override {}
    bool follows_execution() const override { return true; }
    std::vector<RawFinding> findings() override { return {}; }
  };
  struct Failing final : Follower {
    void executed(const Exec&, ThreadIndex, Moment) override {
      if (++told == 5000) throw std::runtime_error("as it should");
    }
    int told = 0;
  };
  struct Slow final : Follower {
    void executed(const Exec& exec, ThreadIndex, Moment) override {
      sum += exec.shape->part.end;
      if (++told % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    int told = 0, sum = 0;
  };
  TraceBuilder builder(TraceBuilder::text_process(), {.chunk_steps = 1000});
  Var x = builder.var("x");
  for (int i = 0; i < 20'000; ++i) builder.thread(1).exec("1.1", {w(x, 1)});
  TraceReader trace = builder.finish();
  ASSERT_GT(trace.chunks().size(), 10U);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  Failing failing;
  Slow slow;
  scan.add(failing);
  scan.add(slow);
  EXPECT_THROW(scan.walk(Columns{.values = false}), std::runtime_error);
  int told = slow.told;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(slow.told, told);
  EXPECT_EQ(failing.told, 5000);
}

}  // namespace
}  // namespace svd::test
