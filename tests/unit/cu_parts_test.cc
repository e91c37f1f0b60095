// SPDX-License-Identifier: Apache-2.0
//
// What computational units are made of, against plain containers: units, sets of units, plans; and
// what decided.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "cu/control_stack.h"
#include "cu/part_plans.h"
#include "cu/tag_sets.h"
#include "cu/units.h"
#include "dpdg/control_tracker.h"

namespace svd::test {
namespace {

// Of branches at 0x10 and 0x20, which end at 0x30.
TEST(ControlStack, ARoundTakesThePlaceOfTheOneBeforeInItsActivation) {
  ControlStack stack;
  auto count = [&stack] {
    int all = 0;
    stack.each([&all](TagSet) { return ++all > 0; });
    return all;
  };
  stack.at(kNoParent);
  stack.decide(Seq(1), Pc(0x10), Pc(0x30), {});
  stack.at(Seq(1));
  stack.decide(Seq(2), Pc(0x20), Pc(0x30), {});
  stack.at(Seq(2));
  stack.decide(Seq(3), Pc(0x10), Pc(0x30), {});  // the next round
  EXPECT_EQ(count(), 1);
  stack.at(Seq(4));  // a call, of the same function
  stack.decide(Seq(5), Pc(0x20), Pc(0x30), {});
  stack.at(Seq(5));
  stack.decide(Seq(6), Pc(0x10), Pc(0x30), {});
  EXPECT_EQ(count(), 3);
  stack.at(Seq(6));
  stack.decide(Seq(7), Pc(0x20), Pc(0x30), {});  // its next round
  EXPECT_EQ(count(), 2);
}

TEST(TagSets, WhatIsHeldStaysWhatItIs) {
  std::mt19937 random(3);
  Units units(1);
  TagSets sets(units);
  auto members = [&sets](TagSet set) {
    std::set<UnitMember> all;
    sets.each(set, [&all](UnitMember member) { all.insert(member); });
    return all;
  };
  std::vector<TagSet> held(20);
  std::vector<std::set<UnitMember>> plain(20);
  for (int i = 0; i < 5000; ++i) {
    std::size_t a = random() % 20, b = random() % 20;
    held[a] = random() % 2 == 0 ? TagSets::of(units.begin(0)) : sets.unite(held[a], held[b], 0);
    plain[a] = members(held[a]);
    if (random() % 50 != 0) continue;
    sets.forget_but([&held](auto&& rename) {
      for (TagSet& set : held) rename(set);
    });
    for (std::size_t j = 0; j < held.size(); ++j) ASSERT_EQ(members(held[j]), plain[j]);
  }
}

TEST(TagSets, AUnionThatIsAPartIsThatPart) {
  Units units(1);
  TagSets sets(units);
  TagSet one = TagSets::of(units.begin(0)), other = TagSets::of(units.begin(0));
  TagSet both = sets.unite(one, other, 0);
  EXPECT_EQ(sets.unite(both, one, 0), both);
  EXPECT_EQ(sets.unite(other, both, 0), both);
}

TEST(Units, HaveTheRemarksOfTheirMembers) {
  struct Plain {
    std::set<UnitMember> members;
    std::set<std::uint32_t> remarks;
    std::size_t thread = 0;
    bool active = true;
  };
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Units units(3);
    std::map<UnitMember, Plain> plain;  // by the oldest member
    auto any = [&] {
      return units.of_member(static_cast<UnitMember>(1 + random() % (units.members() - 1)));
    };
    for (int i = 0; i < 100; ++i) {
      if (units.members() == 1 || random() % 3 == 0) {
        std::size_t thread = random() % 3;
        for (std::uint64_t some = 1 + random() % 40; some > 0; --some) {
          UnitMember unit = units.begin(thread);
          plain[unit] = {.members = {unit}, .remarks = {}, .thread = thread};
        }
      }
      if (random() % 20 == 0) {
        std::size_t thread = random() % 3;
        units.end_all(thread);
        for (auto& [unit, known] : plain) known.active = known.active && known.thread != thread;
      }
      UnitMember a = any(), b = any();
      if (random() % 2 == 0) plain[a].remarks.insert(units.remark(a));
      if (random() % 8 == 0) {
        units.end(a);
        plain[a].active = false;
      } else if (a != b && plain[a].thread == plain[b].thread && random() % 2 == 0) {
        if (b < a) std::swap(a, b);
        ASSERT_EQ(units.merge(a, b), a);
        plain[a].members.merge(plain[b].members);
        plain[a].remarks.merge(plain[b].remarks);
        plain.erase(b);
      }
    }
    std::vector<UnitMember> by_member = units.by_member();
    for (const auto& [unit, known] : plain) {
      for (std::size_t thread = 0; thread < 3; ++thread)
        EXPECT_EQ(units.active(unit, thread), known.active && known.thread == thread);
      for (UnitMember member : known.members) {
        EXPECT_EQ(by_member[member], unit);
        EXPECT_EQ(units.if_active(member, known.thread), known.active ? unit : 0);
      }
      std::set<std::uint32_t> remarks;
      for (std::uint32_t r = units.first_remark(unit); r != 0; r = units.next_remark(r))
        EXPECT_TRUE(remarks.insert(r).second);
      EXPECT_EQ(remarks, known.remarks);
    }
    EXPECT_EQ(by_member.size(), units.members());
  }
}

// Steps that copy, unite and empty registers, planned and then carried out, against one after the
// other.
TEST(PlannedValues, GiveWhatTheStepsDo) {
  struct Op {
    PlannedValue into, a, b;
  };
  constexpr std::size_t kRegisters = 6;
  PlannedValues planned(kRegisters);
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<unsigned> plain, held;  // sets, a bit for each member
    for (std::size_t i = 0; i < kRegisters; ++i) plain.push_back(random() % 256);
    held = plain;
    std::vector<Op> ops;
    planned.begin();
    for (int i = 0; i < 10; ++i) {
      std::size_t into = random() % kRegisters, a = random() % kRegisters,
                  b = random() % kRegisters;
      bool empty = random() % 8 == 0;
      plain[into] = empty ? 0 : plain[a] | plain[b];
      planned[into] = empty ? planned.nothing()
                            : planned.unite(planned[a], planned[b],
                                            [&](PlannedValue both, PlannedValue x, PlannedValue y) {
                                              ops.push_back({both, x, y});
                                            });
    }
    planned.write([&](PlannedValue into, PlannedValue from) { ops.push_back({into, from, from}); });
    held.resize(planned.most());
    for (const Op& op : ops) held[op.into] = held[op.a] | held[op.b];
    held.resize(kRegisters);
    EXPECT_EQ(held, plain) << round;
  }
}

}  // namespace
}  // namespace svd::test
