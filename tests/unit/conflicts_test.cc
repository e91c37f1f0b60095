// SPDX-License-Identifier: Apache-2.0
//
// Dependences between threads before and after transitivity and happens-before: the slicing paper's
// figures by hand, and against the definition on random traces.

#include "dpdg/conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "dpdg/lifetimes.h"
#include "support/random_runs.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers numbers(const ConflictCounts::Row& row) { return {row.all, row.adjacent, row.unordered}; }

ConflictCounts counts_of(const TraceReader& trace) {
  Diagnostics diagnostics;
  return count_conflicts(trace, {}, Sequencers::of(trace, diagnostics), diagnostics);
}

// Fig. 8, left: of D1 -> D3 and D2 -> D3 only the second is kept.
TEST(Conflicts, Figure8TwoThreads) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)}).exec("D2", {w(x)});
  t.thread(2).exec("D3", {w(x)});
  EXPECT_EQ(numbers(counts_of(t.finish()).waw), (Numbers{2, 1, 1}));
}

// Fig. 8, right: D4 -> D5 and D5 -> D6 are kept, D4 -> D6 is not.
TEST(Conflicts, Figure8ThreeThreads) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D4", {w(x)});
  t.thread(2).exec("D5", {w(x)});
  t.thread(3).exec("D6", {w(x)});
  EXPECT_EQ(numbers(counts_of(t.finish()).waw), (Numbers{3, 2, 2}));
}

// D4 -> D6 is restored when D6 is asked for.
TEST(Conflicts, Figure8Restored) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D4", {w(x)});
  t.thread(2).exec("D5", {w(x)});
  t.thread(3).exec("D6", {w(x)});
  Diagnostics diagnostics;
  ThreadId one(1), two(2), three(3);
  EXPECT_EQ(restore_conflicts(t.finish(), {}, Seq(2), Seq(3), diagnostics),
            (std::vector<OrderPair>{{true, Seq(0), one, Seq(2), three, x.address},
                                    {true, Seq(1), two, Seq(2), three, x.address}}));
}

// §3.1: a read has an arc to the first write that follows it only.
TEST(Conflicts, AReadIsFollowedByTheNextWrite) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("R1", {r(x)});
  t.thread(2).exec("W1", {w(x)}).exec("W2", {w(x)});
  ConflictCounts counts = counts_of(t.finish());
  EXPECT_EQ(numbers(counts.war), (Numbers{2, 1, 1}));
  EXPECT_EQ(numbers(counts.waw), (Numbers{0, 0, 0}));
}

// Fig. 9: D1 lies before a sequencer of its thread that comes before the one that D2 lies after;
// the intervals of D2 and D3 overlap.
TEST(Conflicts, Figure9Sequencers) {
  TraceBuilder t;
  Var x = t.var("x");
  Var m = t.lock("m"), n = t.lock("n");
  t.thread(1).lock(m).exec("D1", {w(x)}).unlock(m);
  t.thread(2).lock(n).exec("D2", {w(x)});
  t.thread(1).exec("D3", {w(x)}).lock(m);
  t.thread(2).unlock(n);
  EXPECT_EQ(numbers(counts_of(t.finish()).waw), (Numbers{2, 2, 1}));
}

TEST(Conflicts, AtomicAccessesAreOrdered) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("A", {atomic(w(x))});
  t.thread(2).exec("B", {atomic(w(x))});
  EXPECT_EQ(numbers(counts_of(t.finish()).waw), (Numbers{1, 1, 0}));
}

// Reads of what was written are never left out, and what was freed is another place.
TEST(Conflicts, ReadsStayAndLifetimesEnd) {
  TraceBuilder t;
  Var x = t.var("x"), m = t.lock("m");
  t.thread(1).exec("W", {w(x)}).unlock(m);
  t.thread(2).lock(m).exec("R", {r(x)}).exec("R", {r(x)});
  t.event(Allocation{.address = x.address, .size = x.size}).exec("new", {w(x)});
  ConflictCounts counts = counts_of(t.finish());
  EXPECT_EQ(numbers(counts.raw), (Numbers{2, 2, 2}));
  EXPECT_EQ(counts.waw.all, 0U);
}

// ---- The definition ----

// All pairs, one by one.
struct Plain {
  struct Access {
    ThreadId thread{};
    Seq seq{};
    bool write = false;
    std::set<std::uint64_t> bytes;  // of this lifetime
  };
  std::vector<Access> accesses;
  // By thread: the places in the run of its sequencers and of its instructions.
  std::map<ThreadId, std::vector<std::uint64_t>> sequencers;
  std::map<Seq, std::uint64_t> places;
  std::map<ThreadId, Seq> last;
  std::uint64_t place = 0;
  struct Pair {
    Access first, second;
    bool adjacent = false;
  };
  std::vector<Pair> raw, waw, war;

  void exec(const Exec& exec) {
    places[exec.seq] = ++place;
    last[exec.thread] = exec.seq;
    bool atomic = false;
    exec.accesses([&](const MemoryAccess& a) {
      access(exec.thread, a.slot->write, a.address.value, a.size);
      atomic = atomic || a.slot->atomic;
    });
    if (atomic) sequencers[exec.thread].push_back(place);
  }

  void event(const Event& event) {
    ++place;
    if (std::holds_alternative<Sync>(event.body)) {
      sequencers[event.thread].push_back(place);
    } else if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      access(event.thread, kernel->access == svd::Access::kWrite, kernel->address.value,
             kernel->size);
    } else if (auto fresh = fresh_memory(event)) {
      for (Access& earlier : accesses)
        for (std::uint64_t i = 0; i < fresh->size; ++i)
          earlier.bytes.erase(fresh->address.value + i);
    }
  }

  void access(ThreadId thread, bool write, std::uint64_t address, std::uint64_t size) {
    Access me{thread, last.at(thread), write, {}};
    for (std::uint64_t i = 0; i < size; ++i) me.bytes.insert(address + i);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Access& other = accesses[i];
      if (other.thread == thread || !(write || other.write)) continue;
      bool any = false, adjacent = false;
      for (std::uint64_t byte : me.bytes)
        if (other.bytes.contains(byte)) any = true, adjacent = adjacent || !hidden(i, byte);
      auto& pairs = !write ? raw : other.write ? waw : war;
      if (any && (write || adjacent)) pairs.push_back({other, me, adjacent});
    }
    accesses.push_back(me);
  }

  bool hidden(std::size_t earlier, std::uint64_t byte) const {
    const Access& first = accesses[earlier];
    return std::any_of(accesses.begin() + static_cast<std::ptrdiff_t>(earlier) + 1, accesses.end(),
                       [&](const Access& between) {
                         bool later_read = !first.write && between.thread == first.thread;
                         return between.bytes.contains(byte) && (between.write || later_read);
                       });
  }

  bool ordered(const Pair& pair) const {
    std::optional<std::uint64_t> next, previous;
    for (std::uint64_t at : sequencers_of(pair.first.thread))
      if (at >= places.at(pair.first.seq) && !next) next = at;
    for (std::uint64_t at : sequencers_of(pair.second.thread))
      if (at <= places.at(pair.second.seq)) previous = at;
    return next && previous && *next < *previous;
  }
  const std::vector<std::uint64_t>& sequencers_of(ThreadId thread) const {
    static const std::vector<std::uint64_t> kNone;
    auto found = sequencers.find(thread);
    return found == sequencers.end() ? kNone : found->second;
  }

  Numbers count(const std::vector<Pair>& pairs, bool filtered) const {
    Numbers numbers{pairs.size(), 0, 0};
    for (const Pair& pair : pairs) {
      numbers[1] += pair.adjacent;
      numbers[2] += pair.adjacent && !(filtered && ordered(pair));
    }
    return numbers;
  }
};

// Accesses of up to four bytes to a place of 24, locks, allocations, system calls.
TraceReader random_trace(TraceBuilder& t, std::mt19937_64& random) {
  auto below = [&random](std::uint64_t n) { return random() % n; };
  Var place = t.var("place", 24);
  Var lock = t.lock("m");
  auto any = [&] {
    Var var{place.address + below(20), static_cast<std::uint16_t>(1 + below(4))};
    Operand operand = below(2) == 0 ? r(var) : w(var);
    return below(10) == 0 ? atomic(operand) : operand;
  };
  for (std::uint32_t thread = 1; thread <= 3; ++thread) t.thread(thread).exec("begin");
  for (std::uint64_t n = 2 + below(40); n > 0; --n) {
    t.thread(static_cast<std::uint32_t>(1 + below(3)));
    switch (below(12)) {
      case 0:
        t.lock(lock);
        break;
      case 1:
        t.unlock(lock);
        break;
      case 2:
        t.event(Allocation{.address = place.address + 8 * below(3), .size = 8});
        break;
      case 3:
        t.event(KernelAccess{.access = below(2) == 0 ? Access::kRead : Access::kWrite,
                             .address = place.address + below(20),
                             .size = 1 + below(4)});
        break;
      case 4:
        t.exec("both", {any(), any()});
        break;
      default:
        t.exec("one", {any()});
    }
  }
  return t.finish();
}

TEST(Conflicts, AreTheDefinitionOnRandomTraces) {
  std::size_t count = random_runs(2000);
  for (std::size_t seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder builder;
    TraceReader trace = random_trace(builder, random);
    Plain plain;
    Diagnostics diagnostics;
    trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&plain](const Chunk& chunk) {
      chunk.walk(plain);
      return true;
    });
    ConflictCounts counts = counts_of(trace);
    ASSERT_EQ(numbers(counts.raw), plain.count(plain.raw, false)) << "seed " << seed;
    ASSERT_EQ(numbers(counts.waw), plain.count(plain.waw, true)) << "seed " << seed;
    ASSERT_EQ(numbers(counts.war), plain.count(plain.war, true)) << "seed " << seed;
    std::ptrdiff_t all =
        0;  // but those that a system call's kernel finds made while it was under way
    for (const auto* pairs : {&plain.waw, &plain.war})
      all += std::count_if(pairs->begin(), pairs->end(), [](const Plain::Pair& pair) {
        return pair.first.seq < pair.second.seq;
      });
    ASSERT_EQ(std::ssize(restore_conflicts(trace, {}, Seq(0), Seq(trace.steps()), diagnostics)),
              all)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace svd::test
