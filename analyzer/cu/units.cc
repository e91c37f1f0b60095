// SPDX-License-Identifier: Apache-2.0
#include "cu/units.h"

#include <utility>

namespace svd {

Units::Node& Units::own_node(UnitMember member) {
  Page& page = pages_[member / kPage];
  if (page.era != kVarious) {
    if (various_ % kBlock == 0)
      blocks_.push_back(std::make_unique_for_overwrite<Node[]>(kBlock * kPage));
    Node* nodes = &blocks_.back()[various_++ % kBlock * kPage];
    for (std::uint32_t i = 0; i < kPage; ++i) nodes[i] = node(member / kPage * kPage + i);
    page.nodes = nodes;
    page.era = kVarious;
  }
  return page.nodes[member % kPage];
}

UnitMember Units::look_if_active(UnitMember member, std::size_t thread) {
  UnitMember unit = of_member(member);
  return era(node(unit)) == eras_[thread] ? unit : 0;
}

void Units::end(UnitMember member) {
  UnitMember stands = of_member(member);
  Page& page = pages_[stands / kPage];
  Node known = node(stands);
  if (page.era != kVarious) {
    page.ended |= std::uint64_t{1} << stands % kPage;
  } else if ((known & kRemarked) == 0) {
    page.nodes[stands % kPage] = kEnded;
  } else {
    remarked_[known & ~kRemarked].era = kEnded;
  }
}

UnitMember Units::merge(UnitMember a, UnitMember b) {
  a = of_member(a);
  b = of_member(b);
  if (a == b) return a;
  // The younger one joins the older one; paths are kept short by of_member.
  if (b < a) std::swap(a, b);
  Node joins = std::exchange(own_node(b), a | kJoined);
  --count_;
  if ((joins & kRemarked) == 0) return a;
  Remarked& latest = remarked_[joins & ~kRemarked];
  Node& stays = own_node(a);
  if ((stays & kRemarked) == 0) {
    latest.era = std::exchange(stays, joins);
  } else {
    Remarked& all = remarked_[stays & ~kRemarked];
    remarks_[latest.last] = all.first;
    all.first = latest.first;
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
  Node& known = own_node(of_member(member));
  remarks_.push_back(0);
  auto remark = static_cast<std::uint32_t>(remarks_.size() - 1);
  if ((known & kRemarked) == 0) {
    remarked_.push_back({known, remark, remark});
    known = static_cast<Node>(remarked_.size() - 1) | kRemarked;
  } else {
    Remarked& all = remarked_[known & ~kRemarked];
    remarks_.back() = std::exchange(all.first, remark);
  }
  return remark;
}

}  // namespace svd
