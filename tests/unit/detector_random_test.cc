// SPDX-License-Identifier: Apache-2.0
//
// Every detector against its definition, written down plainly, on random small runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "detectors/declared_atomic.h"
#include "detectors/frontier.h"
#include "detectors/lockset.h"
#include "detectors/races.h"
#include "detectors/read_log.h"
#include "support/random_runs.h"

namespace svd::test {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kChannels = 3;
constexpr std::size_t kEvents = 24;  // at most; sets of them are bits of a word

struct Step {
  enum class What { kAccess, kAcquire, kRelease, kBegin, kEnd } what = What::kAccess;
  Touch touch{};
  ChannelId channel{};
};

using Steps = std::vector<Step>;
using Bits = std::uint32_t;

// Each access has a site of its own, so that nothing is grouped.
Steps random_steps(std::mt19937_64& random, LockSets& lock_sets) {
  auto below = [&random](std::uint64_t end) { return random() % end; };
  std::size_t threads = 2 + below(kThreads - 1);
  std::size_t words = 1 + below(2);
  bool blocks = below(2) == 0;
  std::vector<bool> open(threads);
  Steps run(2 + below(kEvents - 1));
  for (std::size_t i = 0; i < run.size(); ++i) {
    Step& step = run[i];
    Touch& touch = step.touch;
    touch.moment = Moment(i + 1);
    touch.thread = ThreadIndex(static_cast<std::uint16_t>(below(threads)));
    touch.site = SiteId(static_cast<std::uint32_t>(i));
    step.channel = ChannelId(static_cast<std::uint32_t>(below(kChannels)));
    std::uint64_t kind = below(10);
    if (kind == 0) {
      step.what = Step::What::kAcquire;
    } else if (kind == 1) {
      step.what = Step::What::kRelease;
    } else if (kind == 2 && blocks) {
      step.what = open[touch.thread.value] ? Step::What::kEnd : Step::What::kBegin;
      open[touch.thread.value] = !open[touch.thread.value];
    } else {
      touch.size = std::uint64_t{1} << below(4);
      touch.address = Addr(0x1000 + below(8 * words));
      touch.kind = below(2) == 0 ? TouchKind::kWrite : TouchKind::kRead;
      touch.atomic = below(5) == 0;
      LockSetId locks = kNoLocks;
      for (std::uint64_t lock = 0; lock < 2; ++lock) {
        if (below(2) == 0) locks = lock_sets.with(locks, {Addr(lock + 1), below(3) == 0});
      }
      touch.locks = locks;
    }
  }
  return run;
}

void feed(const Steps& run, Detector& detector) {
  for (std::size_t i = 0; i < run.size(); ++i) {
    const Touch& touch = run[i].touch;
    switch (run[i].what) {
      case Step::What::kAccess:
        detector.access(touch);
        break;
      case Step::What::kAcquire:
        detector.acquire(touch.thread, run[i].channel, EdgeKind::kOrder, touch.moment);
        break;
      case Step::What::kRelease:
        detector.release(touch.thread, run[i].channel, EdgeKind::kOrder, touch.moment);
        break;
      case Step::What::kBegin:
      case Step::What::kEnd:
        detector.atomic_block(touch.thread, run[i].what == Step::What::kBegin, touch.moment);
        break;
    }
  }
}

bool overlap(const Touch& a, const Touch& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}

bool conflict(const Step& a, const Step& b) {
  return a.what == Step::What::kAccess && b.what == Step::What::kAccess &&
         a.touch.thread != b.touch.thread && (a.touch.writes() || b.touch.writes()) &&
         overlap(a.touch, b.touch);
}

// i is directly before j by program order or synchronisation.
bool ordered(const Step& a, const Step& b) {
  return a.touch.thread == b.touch.thread ||
         (a.what == Step::What::kRelease && b.what == Step::What::kAcquire &&
          a.channel == b.channel);
}

// For each step those before it, by the closure of `edge`.
template <class Edge>
std::vector<Bits> closure(const Steps& run, Edge&& edge) {
  std::vector<Bits> before(run.size());
  for (std::size_t j = 0; j < run.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (edge(run[i], run[j])) before[j] |= before[i] | Bits{1} << i;
    }
  }
  return before;
}

std::set<std::size_t> races_by_definition(const Steps& run) {
  std::vector<Bits> before = closure(run, ordered);
  std::set<std::size_t> races;
  for (std::size_t j = 0; j < run.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (conflict(run[i], run[j]) && !atomic_pair(Mark(run[i].touch), run[j].touch) &&
          (before[j] >> i & 1) == 0)
        races.insert(j);
    }
  }
  return races;
}

using Moments2 = std::set<std::vector<std::uint64_t>>;

Moments2 moments_of(Detector& detector) {
  Moments2 all;
  for (const RawFinding& finding : detector.findings()) {
    std::vector<std::uint64_t> moments;
    for (const RawAccess& access : finding.accesses) moments.push_back(access.moment.value);
    all.insert(moments);
  }
  return all;
}

Moments2 frontier_by_definition(const Steps& run) {
  auto edge = [](const Step& a, const Step& b) { return ordered(a, b) || conflict(a, b); };
  std::vector<Bits> before = closure(run, edge);
  Moments2 pairs;
  for (std::size_t j = 0; j < run.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (!conflict(run[i], run[j])) continue;
      bool other = false;
      for (std::size_t k = i + 1; k < j; ++k)
        other |= edge(run[k], run[j]) && (before[k] >> i & 1) != 0;
      if (!other && !atomic_pair(Mark(run[i].touch), run[j].touch)) pairs.insert({i + 1, j + 1});
    }
  }
  return pairs;
}

// By bytes: the last write, and the thread's own last write.
Moments2 log_by_definition(const Steps& run) {
  Moments2 triples;
  for (std::size_t s = 0; s < run.size(); ++s) {
    const Touch& read = run[s].touch;
    if (run[s].what != Step::What::kAccess || read.writes() || read.atomic) continue;
    for (std::uint64_t byte = 0; byte < read.size; ++byte) {
      std::uint64_t rw = 0, lw = 0;
      for (std::size_t i = 0; i < s; ++i) {
        const Touch& write = run[i].touch;
        if (run[i].what != Step::What::kAccess || !write.writes()) continue;
        if (read.address + byte - write.address >= write.size) continue;
        rw = i + 1;
        if (write.thread == read.thread) lw = i + 1;
      }
      if (rw != lw && lw != 0) triples.insert({lw, rw, s + 1});
    }
  }
  return triples;
}

// Eraser, a byte at a time; the steps that are reported.
std::set<std::size_t> lockset_by_definition(const Steps& run, const LockSets& lock_sets) {
  std::set<std::size_t> reported;
  for (std::uint64_t byte = 0x1000; byte < 0x1000 + 32; ++byte) {
    std::set<std::uint16_t> threads;
    std::set<std::uint64_t> candidates{1, 2};
    bool modified = false;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const Touch& touch = run[i].touch;
      if (run[i].what != Step::What::kAccess || touch.atomic) continue;
      if (Addr(byte) - touch.address >= touch.size) continue;
      threads.insert(touch.thread.value);
      if (threads.size() < 2) continue;
      std::set<std::uint64_t> held;
      for (const HeldLock& lock : lock_sets[touch.locks]) {
        if (!lock.shared || !touch.writes()) held.insert(lock.object.value);
      }
      std::erase_if(candidates, [&held](std::uint64_t lock) { return !held.contains(lock); });
      modified |= touch.writes();
      if (modified && candidates.empty()) reported.insert(i);
    }
  }
  return reported;
}

// Every pair of units, every conflict.
bool serializable_by_definition(const Steps& run) {
  std::vector<std::size_t> unit(run.size());
  std::vector<std::size_t> open(kThreads);  // the block's first step and one, by thread
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::size_t& block = open[run[i].touch.thread.value];
    if (run[i].what == Step::What::kBegin) block = i + 1;
    unit[i] = block == 0 ? i : block - 1;
    if (run[i].what == Step::What::kEnd) block = 0;
  }
  std::vector<Bits> after(run.size());
  for (std::size_t i = 0; i < run.size(); ++i) {
    for (std::size_t j = i + 1; j < run.size(); ++j) {
      if (unit[i] != unit[j] && (ordered(run[i], run[j]) || conflict(run[i], run[j])))
        after[unit[i]] |= Bits{1} << unit[j];
    }
  }
  for (std::size_t k = 0; k < run.size(); ++k) {
    for (Bits& bits : after) {
      if ((bits >> k & 1) != 0) bits |= after[k];
    }
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    if ((after[i] >> i & 1) != 0) return false;
  }
  return true;
}

std::string text_of(const Steps& run) {
  std::string text;
  for (const Step& step : run) {
    const Touch& t = step.touch;
    text += std::to_string(t.moment.value) + ": T" + std::to_string(t.thread.value) + " ";
    switch (step.what) {
      case Step::What::kAccess:
        text += (t.writes() ? "w " : "r ") + std::to_string(t.address.value) + ":" +
                std::to_string(t.size) + (t.atomic ? " atomic" : "") + " locks " +
                std::to_string(t.locks.value);
        break;
      case Step::What::kAcquire:
        text += "acquire " + std::to_string(step.channel.value);
        break;
      case Step::What::kRelease:
        text += "release " + std::to_string(step.channel.value);
        break;
      case Step::What::kBegin:
        text += "begin";
        break;
      case Step::What::kEnd:
        text += "end";
        break;
    }
    text += "\n";
  }
  return text;
}

TEST(DetectorRandom, FastIsWhatTheDefinitionSays) {
  std::uint64_t runs = random_runs(100'000);
  std::uint64_t races = 0, frontiers = 0, logs = 0, locksets = 0, broken = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    std::mt19937_64 random(seed);
    LockSets lock_sets;
    Steps run = random_steps(random, lock_sets);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(run));

    // Each with a history of its own, or all with one.
    bool together = seed % 2 == 0;
    auto shared = std::make_shared<History>();
    auto history = [&] { return together ? shared : std::make_shared<History>(); };
    RaceDetector hb("race-hb", RaceDetector::Mode::kHappensBefore, kThreads, lock_sets, history());
    FrontierDetector frontier("race-frontier", kThreads, history());
    RaceDetector hybrid("race-hybrid", RaceDetector::Mode::kHybrid, kThreads, lock_sets, history());
    ReadLog log("svd-log", history());
    LocksetDetector lockset("race-lockset", lock_sets, history());
    feed(run, hb);
    for (Detector* other : std::initializer_list<Detector*>{&frontier, &hybrid, &log, &lockset})
      if (!together) feed(run, *other);

    std::set<std::size_t> raced;
    for (const RawFinding& finding : hb.findings())
      for (const Meeting& meeting : finding.instances) raced.insert(meeting.later.value - 1);
    ASSERT_EQ(raced, races_by_definition(run));
    races += raced.size();

    Moments2 pairs = moments_of(frontier);
    ASSERT_EQ(pairs, frontier_by_definition(run));
    frontiers += pairs.size();

    Moments2 triples = moments_of(log);
    ASSERT_EQ(triples, log_by_definition(run));
    logs += triples.size();

    std::set<std::size_t> reported;
    for (const RawFinding& finding : lockset.findings())
      reported.insert(finding.accesses.back().moment.value - 1);
    ASSERT_EQ(reported, lockset_by_definition(run, lock_sets));
    locksets += reported.size();

    DeclaredAtomic atomic("declared-atomic", kThreads);
    feed(run, atomic);
    bool serializable = atomic.graph().cycles().empty();
    ASSERT_EQ(serializable, serializable_by_definition(run));
    broken += serializable ? 0 : 1;
  }
  // The runs have something to find, and not everything.
  EXPECT_GT(races, runs);
  EXPECT_GT(frontiers, runs);
  EXPECT_GT(logs, runs / 10);
  EXPECT_GT(locksets, runs / 10);
  EXPECT_GT(broken, runs / 100);
  EXPECT_LT(broken, runs);
}

}  // namespace
}  // namespace svd::test
