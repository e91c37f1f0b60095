// SPDX-License-Identifier: Apache-2.0
//
// Computational units (Xu, Bodik, Hill, PLDI 2005): what a thread computes from what it read, as
// far as it hangs together. A unit begins as a single read of shared memory; units become one where
// what they computed is stored to shared memory together. A unit that has ended takes no more part
// in anything.
//
// Memory: 12 bytes for each read of shared memory, and for each write that follows from none.
#pragma once

#include <cstdint>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

// A member of a unit; 0 is none. What the unit is, of_member says.
using UnitMember = std::uint32_t;

class Units {
 public:
  explicit Units(std::size_t threads) : nodes_(1), eras_(threads) {
    for (std::uint32_t& era : eras_) era = next_era_++;
  }

  UnitMember begin(std::size_t thread) {
    nodes_.push_back({0, eras_[thread], 0});
    ++count_;
    return static_cast<UnitMember>(nodes_.size() - 1);
  }
  // Two units of one thread.
  UnitMember merge(UnitMember a, UnitMember b);
  // One unit.
  void end(UnitMember member) { nodes_[of_member(member)].era = kEnded; }
  // All units of the thread.
  void end_all(std::size_t thread) { eras_[thread] = next_era_++; }

  // The member that stands for the unit.
  UnitMember of_member(UnitMember member) {
    while (nodes_[member].parent != 0) {
      UnitMember above = nodes_[member].parent;
      if (nodes_[above].parent != 0) nodes_[member].parent = nodes_[above].parent;
      member = above;
    }
    return member;
  }
  bool same(UnitMember a, UnitMember b) { return of_member(a) == of_member(b); }
  bool active(UnitMember member, std::size_t thread) {
    return nodes_[of_member(member)].era == eras_[thread];
  }

  // Remarks about a unit: those of both when two become one, the latest first. 0 is none.
  std::uint32_t first_remark(UnitMember member) { return nodes_[of_member(member)].remark; }
  std::uint32_t next_remark(std::uint32_t remark) const { return remarks_[remark]; }
  // Remarks are numbered from 1 in the order in which they are made.
  std::uint32_t remark(UnitMember member);

  // All are below.
  UnitMember members() const { return static_cast<UnitMember>(nodes_.size()); }
  // How many there were, those that became one counted once.
  std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint32_t kEnded = 0;
  struct Node {
    UnitMember parent = 0;
    std::uint32_t era = kEnded;
    std::uint32_t remark = 0;
  };
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> eras_;        // of each thread: what its active units have
  std::vector<std::uint32_t> remarks_{0};  // the next one of each
  std::uint32_t next_era_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace svd
