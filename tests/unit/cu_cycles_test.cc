// SPDX-License-Identifier: Apache-2.0
//
// The graph of units against all pairs of accesses and depth-first search, on random accesses, and
// what it says of small runs.

#include <gtest/gtest.h>
#include <malloc.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "detectors/table.h"
#include "detectors/unit_cycles.h"
#include "detectors/unit_graph.h"
#include "dpdg/control_tracker.h"
#include "support/detector_run.h"
#include "support/random_runs.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

struct Done {
  Touch touch;
  UnitMember unit = 0;
};
struct Cut {
  UnitMember from = 0, to = 0;
};

bool conflict(const Done& a, const Done& b) {
  const Touch &s = a.touch, &t = b.touch;
  return s.thread != t.thread && (s.writes() || t.writes()) && s.address < t.address + t.size &&
         t.address < s.address + s.size;
}

// Which nodes each one reaches.
using Reach = std::vector<std::vector<bool>>;

void search(const std::vector<std::vector<std::uint32_t>>& arcs, std::uint32_t node,
            std::vector<bool>& seen) {
  for (std::uint32_t next : arcs[node]) {
    if (seen[next]) continue;
    seen[next] = true;
    search(arcs, next, seen);
  }
}

Reach reach(const std::vector<std::vector<std::uint32_t>>& arcs) {
  Reach all(arcs.size(), std::vector<bool>(arcs.size()));
  for (std::uint32_t node = 0; node < arcs.size(); ++node) search(arcs, node, all[node]);
  return all;
}

// Some threads that access 16 bytes, in units that become one, under conditions that come and go.
class RandomUnits {
 public:
  explicit RandomUnits(std::uint64_t seed) : random_(seed), threads_(2 + below(3)) {
    for (std::size_t i = 2 + below(20); i > 0; --i) step();
  }

  // All that the definition says, by the units as they are in the end.
  Reach dependent() { return reach(cut_arcs()); }
  Reach ordered() {
    auto arcs = cut_arcs();
    for (std::size_t j = 0; j < done_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i)
        if (met(done_[i], done_[j])) add(arcs, done_[i].unit, done_[j].unit);
    }
    return reach(arcs);
  }

  // Of the units that have to come before each other those sets in which threads take part.
  std::size_t sets(const Reach& ordered) {
    std::vector<UnitMember> sets;
    for (std::size_t j = 0; j < done_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        UnitMember a = units_.of_member(done_[i].unit), b = units_.of_member(done_[j].unit);
        if (!met(done_[i], done_[j]) || !ordered[b][a]) continue;
        bool known = false;
        for (UnitMember set : sets) known |= set == a || (ordered[set][a] && ordered[a][set]);
        if (!known) sets.push_back(a);
      }
    }
    return sets.size();
  }

  const Done& at(Moment moment) const { return done_[moment.value - 1]; }
  bool met(const Done& earlier, const Done& later) const {
    return conflict(earlier, later) && earlier.touch.moment < later.touch.moment &&
           !(fresh_ && earlier.touch.moment < *fresh_ && *fresh_ <= later.touch.moment);
  }

  UnitGraph graph;
  Units& units() { return units_; }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::vector<std::vector<std::uint32_t>> cut_arcs() {
    std::vector<std::vector<std::uint32_t>> arcs(units_.members());
    for (const Cut& cut : cuts_) add(arcs, cut.from, cut.to);
    return arcs;
  }
  void add(std::vector<std::vector<std::uint32_t>>& arcs, UnitMember from, UnitMember to) {
    from = units_.of_member(from);
    to = units_.of_member(to);
    if (from != to) arcs[from].push_back(to);
  }

  UnitMember any_unit(std::size_t thread) {
    std::vector<UnitMember>& own = own_[thread];
    if (own.empty() || below(3) == 0) own.push_back(units_.begin(thread));
    return own[below(own.size())];
  }

  void step() {
    std::size_t thread = below(threads_);
    ControlStack& stack = stacks_[thread];
    Seq seq(done_.size());
    if (below(4) == 0) stack.at(below(2) == 0 ? kNoParent : Seq(below(seq.value + 1)));
    if (below(4) == 0) {
      TagSet condition = TagSets::of(any_unit(thread));
      if (below(2) == 0) condition = sets_.unite(condition, TagSets::of(any_unit(thread)), thread);
      stack.decide(seq, Pc(below(3)), Pc(10 + below(3)), condition);
    }
    access(thread, seq);
    if (below(4) == 0) units_.merge(any_unit(thread), any_unit(thread));
    if (!fresh_ && below(40) == 0) {
      fresh_ = Moment(done_.size() + 1);
      graph.fresh(Addr(0x1000), 16);
    }
  }

  void access(std::size_t thread, Seq seq) {
    Done done;
    done.unit = any_unit(thread);
    Touch& touch = done.touch;
    touch.moment = Moment(seq.value + 1);
    touch.thread = ThreadIndex(static_cast<std::uint16_t>(thread));
    touch.size = std::uint64_t{1} << below(4);
    touch.address = Addr(0x1000 + below(17 - touch.size));
    touch.kind = below(2) == 0 ? TouchKind::kWrite : TouchKind::kRead;
    if (!touch.writes()) own_writes(done);
    graph.accessed(done.unit, touch);
    if (below(4) == 0) {
      TagSet address = TagSets::of(any_unit(thread));
      cuts(address, done.unit);
      graph.follows(done.unit, address, sets_);
    }
    stacks_[thread].each([&](TagSet condition) {
      cuts(condition, done.unit);
      return true;
    });
    graph.decided(done.unit, touch.thread, stacks_[thread], sets_);
    done_.push_back(done);
  }

  // Of each byte that is read the thread's last write.
  void own_writes(const Done& read) {
    for (std::uint64_t byte = 0; byte < read.touch.size; ++byte) {
      for (std::size_t i = done_.size(); i-- > 0;) {
        const Touch& write = done_[i].touch;
        if (fresh_ && write.moment < *fresh_) break;
        if (write.thread != read.touch.thread || !write.writes() ||
            read.touch.address + byte - write.address >= write.size)
          continue;
        cuts_.push_back({done_[i].unit, read.unit});
        break;
      }
    }
  }
  void cuts(TagSet from, UnitMember to) {
    sets_.each(from, [&](UnitMember member) { cuts_.push_back({member, to}); });
  }

  std::mt19937_64 random_;
  std::size_t threads_;
  Units units_{4};
  TagSets sets_{units_};
  std::vector<ControlStack> stacks_{4, ControlStack()};
  std::vector<std::vector<UnitMember>> own_{4, std::vector<UnitMember>()};
  std::vector<Done> done_;
  std::vector<Cut> cuts_;
  std::optional<Moment> fresh_;
};

// Though no access made the last arc.
TEST(UnitGraph, AFullOneKeepsNoCells) {
  UnitGraph graph;
  Touch touch;
  touch.moment = Moment(1);
  touch.kind = TouchKind::kWrite;
  touch.size = 8;
  for (touch.address = Addr(0x1000); touch.address < Addr(0x10000); touch.address += 8)
    graph.accessed(1, touch);
  while (!graph.full()) graph.follows(2, 1);
  std::size_t before = mallinfo2().uordblks;
  if (before < 0x40000) GTEST_SKIP() << "a sanitizer does not tell what is in use";
  graph.accessed(1, touch);
  EXPECT_LT(mallinfo2().uordblks + 0x20000, before);
}

TEST(UnitCycles, AreThoseOfAllPairs) {
  std::uint64_t runs = random_runs(20'000);
  std::uint64_t with = 0, found = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomUnits run(seed);
    Reach ordered = run.ordered(), dependent = run.dependent();
    UnitCycles cycles(run.graph, run.units());
    UnitOrder order = cycles.order();
    for (UnitMember a = 1; a < run.units().members(); ++a) {
      for (UnitMember b = 1; b < a; ++b) {
        UnitMember u = run.units().of_member(a), v = run.units().of_member(b);
        if (u == v) continue;
        ASSERT_EQ(order.together(a, b), ordered[u][v] && ordered[v][u]) << a << " " << b;
      }
    }
    std::vector<std::vector<UnitCycles::Step>> list = cycles.list();
    ASSERT_EQ(list.size(), run.sets(ordered));
    for (const auto& cycle : list) {
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const Done& first = run.at(Moment(cycle[i].first.moment));
        const Done& second = run.at(Moment(cycle[i].second.moment));
        const Done& next = run.at(Moment(cycle[(i + 1) % cycle.size()].first.moment));
        EXPECT_TRUE(run.met(first, second));
        UnitMember u = run.units().of_member(second.unit), v = run.units().of_member(next.unit);
        EXPECT_TRUE(u == v || dependent[u][v]);
      }
    }
    with += list.empty() ? 0 : 1;
    found += list.size();
  }
  // The runs have something to find, and not everything.
  EXPECT_GT(with, runs / 4);
  EXPECT_LT(with, runs * 3 / 4);
  EXPECT_GT(found, with);
}

}  // namespace
}  // namespace svd::test
