// SPDX-License-Identifier: Apache-2.0
#include "cu/units.h"

namespace svd {

UnitMember Units::merge(UnitMember a, UnitMember b) {
  a = of_member(a);
  b = of_member(b);
  if (a == b) return a;
  // The younger one joins the older one; paths are kept short by of_member.
  if (b < a) std::swap(a, b);
  nodes_[b].parent = a;
  --count_;
  if (std::uint32_t remark = nodes_[b].remark; remark != 0) {
    while (remarks_[remark] != 0) remark = remarks_[remark];
    remarks_[remark] = nodes_[a].remark;
    nodes_[a].remark = nodes_[b].remark;
  }
  return a;
}

std::uint32_t Units::remark(UnitMember member) {
  Node& node = nodes_[of_member(member)];
  remarks_.push_back(node.remark);
  node.remark = static_cast<std::uint32_t>(remarks_.size() - 1);
  return node.remark;
}

}  // namespace svd
