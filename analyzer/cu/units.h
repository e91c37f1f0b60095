// SPDX-License-Identifier: Apache-2.0
//
// Computational units (Xu, Bodik, Hill, PLDI 2005): what a thread computes from what it read, as
// far as it hangs together. A unit begins as a single read of shared memory; units become one where
// what they computed is stored to shared memory together. A unit that has ended takes no more part
// in anything.
//
// Members are numbered in the order of time, so that mostly those near each other are of one thread
// and era, and few of them join others: of a page of members this is all that is known until one of
// them is something else.
//
// Memory: a quarter of a byte for each read of shared memory, and for each write that follows from
// none; 4 bytes more where units near it become one, have remarks, or are of another thread.
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
    add(kEnded);  // member 0
  }

  UnitMember begin(std::size_t thread) {
    ++count_;
    return add(eras_[thread]);
  }
  // Two units of one thread.
  UnitMember merge(UnitMember a, UnitMember b);
  // One unit.
  void end(UnitMember member);
  // All units of the thread.
  void end_all(std::size_t thread) { eras_[thread] = next_era_++; }

  // The member that stands for the unit.
  UnitMember of_member(UnitMember member) {
    while (true) {
      const Page& page = pages_[member / kPage];
      if (page.era != kVarious) return member;
      Node& below = page.nodes[member % kPage];
      if ((below & kJoined) == 0) return member;
      member = below & ~kJoined;
      Node above = node(member);
      if ((above & kJoined) != 0) below = above;
    }
  }
  bool same(UnitMember a, UnitMember b) { return of_member(a) == of_member(b); }
  bool active(UnitMember member, std::size_t thread) { return if_active(member, thread) != 0; }
  // The member that stands for the unit, if that is active; else 0.
  UnitMember if_active(UnitMember member, std::size_t thread) {
    Node known = node(member);
    if (known == eras_[thread]) return member;
    return (known & (kJoined | kRemarked)) == 0 ? 0 : look_if_active(member, thread);
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
  // Of who stands for a unit: the era in which it is active, or kEnded; or kRemarked and where in
  // remarked_ that is, with the remarks. Of another member: kJoined and one that is nearer to who
  // does.
  using Node = std::uint32_t;
  static constexpr Node kEnded = 0;
  static constexpr Node kJoined = 0x80000000, kRemarked = 0x40000000;
  static constexpr Node kVarious = kJoined;    // of a page; no member joins member 0
  static constexpr std::uint32_t kPage = 64;   // members
  static constexpr std::size_t kBlock = 1024;  // pages whose nodes lie together
  struct Page {
    union {
      std::uint64_t ended = 0;  // those that are kEnded, a bit for each
      Node* nodes;              // of a page that is kVarious
    };
    Node era = kEnded;  // of the others
  };

  struct Remarked {
    Node era = kEnded;
    std::uint32_t first = 0, last = 0;  // of its remarks
  };

  UnitMember add(Node era) {
    if (size_ % kPage == 0) pages_.push_back({{0}, era});
    if (pages_.back().era != era) own_node(size_) = era;
    return size_++;
  }
  Node node(UnitMember member) const {
    const Page& page = pages_[member / kPage];
    if (page.era == kVarious) return page.nodes[member % kPage];
    return (page.ended >> member % kPage & 1) == 0 ? page.era : kEnded;
  }
  UnitMember look_if_active(UnitMember member, std::size_t thread);
  // To be changed.
  Node& own_node(UnitMember member);
  // Of who stands for a unit.
  Node era(Node known) const {
    return (known & kRemarked) == 0 ? known : remarked_[known & ~kRemarked].era;
  }

  std::vector<Page> pages_;
  std::vector<std::unique_ptr<Node[]>> blocks_;  // of nodes
  std::size_t various_ = 0;                      // pages that have some
  UnitMember size_ = 0;
  std::vector<std::uint32_t> eras_;  // of each thread: its active units
  std::vector<Remarked> remarked_;
  std::vector<std::uint32_t> remarks_{0};  // the next one of each
  std::uint32_t next_era_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace svd
