// SPDX-License-Identifier: Apache-2.0
//
// Computational units (Xu, Bodik, Hill, PLDI 2005): what a thread computes from what it read, as
// far as it hangs together. A unit begins as a single read of shared memory; units become one where
// what they computed is stored to shared memory together. A unit that has ended takes no more part
// in anything.
//
// Members are numbered in the order of time, so that mostly those near each other are of one thread
// and era, and few of them join others: a page of members is that era until one is more.
//
// Memory: half a byte for each read of shared memory, and for each write that follows from none; 4
// where units near it become one, have remarks, or are of another thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

// A member of a unit; 0 is none. What the unit is, of_member says.
using UnitMember = std::uint32_t;

class Units {
 public:
  explicit Units(std::size_t threads) : eras_(threads) {
    for (std::uint32_t& era : eras_) era = next_era_++;
    add(kNobodys);  // member 0
  }

  UnitMember begin(std::size_t thread) {
    ++count_;
    return add(eras_[thread]);
  }
  // Two units of one thread.
  UnitMember merge(UnitMember a, UnitMember b);
  // One unit.
  void end(UnitMember member) {
    UnitMember stands = of_member(member);
    page(stands).ended |= bit(stands);
  }
  // All units of the thread.
  void end_all(std::size_t thread) { eras_[thread] = next_era_++; }

  // The member that stands for the unit.
  UnitMember of_member(UnitMember member) {
    while (true) {
      Node* nodes = page(member).nodes.get();
      if (nodes == nullptr) return member;
      Node& below = nodes[member % kPage];
      if ((below & kJoined) == 0) return member;
      member = below & ~kJoined;
      Node above = node(member);
      if ((above & kJoined) != 0) below = above;
    }
  }
  bool same(UnitMember a, UnitMember b) { return of_member(a) == of_member(b); }
  bool active(UnitMember member, std::size_t thread) {
    UnitMember stands = of_member(member);
    return (page(stands).ended & bit(stands)) == 0 && era(node(stands)) == eras_[thread];
  }

  // Remarks about a unit: those of both when two become one, the latest first. 0 is none.
  std::uint32_t first_remark(UnitMember member) {
    Node known = node(of_member(member));
    return (known & kRemarked) == 0 ? 0 : remarked_[known & ~kRemarked].first;
  }
  std::uint32_t next_remark(std::uint32_t remark) const { return remarks_[remark]; }
  // Remarks are numbered from 1 in the order in which they are made.
  std::uint32_t remark(UnitMember member);

  // Of each member who stands for its unit.
  std::vector<UnitMember> by_member() const;
  // All are below.
  UnitMember members() const { return size_; }
  // How many there were, those that became one counted once.
  std::uint64_t count() const { return count_; }

 private:
  // Of who stands for a unit: the era in which it is active unless it has ended; or kRemarked and
  // where in remarked_ that is, with the remarks. Of another member: kJoined and one that is nearer
  // to who does.
  using Node = std::uint32_t;
  static constexpr Node kNobodys = 0;  // an era
  static constexpr Node kJoined = 0x80000000, kRemarked = 0x40000000;
  static constexpr std::uint32_t kPage = 64;  // members
  struct Page {
    std::uint64_t ended = 0;             // a bit for each
    std::unique_ptr<Node[]> nodes = {};  // null: all are `era`
    Node era = kNobodys;
  };

  struct Remarked {
    Node era = kNobodys;
    std::uint32_t first = 0, last = 0;  // of its remarks
  };

  UnitMember add(Node era) {
    if (size_ % kPage == 0) pages_.push_back({.era = era});
    if (pages_.back().nodes != nullptr || pages_.back().era != era) own_node(size_) = era;
    return size_++;
  }
  static std::uint64_t bit(UnitMember member) { return std::uint64_t{1} << member % kPage; }
  Page& page(UnitMember member) { return pages_[member / kPage]; }
  const Page& page(UnitMember member) const { return pages_[member / kPage]; }
  Node node(UnitMember member) const {
    const Page& all = page(member);
    return all.nodes == nullptr ? all.era : all.nodes[member % kPage];
  }
  // To be changed.
  Node& own_node(UnitMember member);
  Node era(Node known) const {
    return (known & kRemarked) == 0 ? known : remarked_[known & ~kRemarked].era;
  }

  std::vector<Page> pages_;
  UnitMember size_ = 0;
  std::vector<std::uint32_t> eras_;  // of each thread: its active units
  std::vector<Remarked> remarked_;
  std::vector<std::uint32_t> remarks_{0};  // the next one of each
  std::uint32_t next_era_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace svd
