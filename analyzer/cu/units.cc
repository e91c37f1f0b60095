// SPDX-License-Identifier: Apache-2.0
#include "cu/units.h"

namespace svd {

UnitMember Units::merge(UnitMember a, UnitMember b) {
  a = of_member(a);
  b = of_member(b);
  if (a == b) return a;
  // The younger one joins the older one; paths are kept short by of_member.
  if (b < a) std::swap(a, b);
  node(b) = a | kJoined;
  --count_;
  if (auto joins = remarked_.extract(b)) {
    Remarks& all = remarked_[a];
    node(a) |= kRemarked;
    remarks_[joins.mapped().last] = all.first;
    if (all.first == 0) all.last = joins.mapped().last;
    all.first = joins.mapped().first;
  }
  return a;
}

std::vector<UnitMember> Units::by_member() const {
  std::vector<UnitMember> units;
  units.reserve(size_);
  for (UnitMember member = 0; member < size_; ++member) {
    Node known = node(member);
    units.push_back((known & kJoined) == 0 ? member : units[known & ~kJoined]);
  }
  return units;
}

std::uint32_t Units::remark(UnitMember member) {
  member = of_member(member);
  node(member) |= kRemarked;
  Remarks& all = remarked_[member];
  remarks_.push_back(all.first);
  all.first = static_cast<std::uint32_t>(remarks_.size() - 1);
  if (all.last == 0) all.last = all.first;
  return all.first;
}

}  // namespace svd
