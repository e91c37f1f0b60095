// SPDX-License-Identifier: Apache-2.0

#include "detectors/history.h"

#include "svd/trace/result.h"

namespace svd {

std::uint64_t History::join(HistoryDetector& detector) {
  std::uint64_t bit = std::uint64_t{1} << detectors_.size();
  SVD_CHECK((bit & BriefMark::kKeepers) != 0);
  detectors_.push_back(&detector);
  return bit;
}

void History::see_next() {
  const auto& next = late_[seen_++ % kLate];
  if (const auto* access = std::get_if<Touch>(&next)) return see(*access);
  const auto& edge = std::get<OrderEdge>(next);
  auto tell = edge.acquired ? &HistoryDetector::acquired : &HistoryDetector::released;
  for (HistoryDetector* detector : detectors_)
    (detector->*tell)(edge.thread, edge.channel, edge.kind, edge.now);
}

void History::see(const Touch& access) {
  bool unsettled = false;
  BriefMark mark = manners_.brief(access);
  auto look = [&](HistoryCell& cell, Addr address, std::uint64_t size) {
    Sight sight{access, mark, address, size};
    for (HistoryDetector* detector : detectors_) unsettled |= detector->look(cell, sight);
    cell.marks.erase_if([](const BriefMark& seen) { return seen.keepers == 0; });
    if (sight.mark.keepers != 0) cell.marks.add(sight.mark);
  };
  if (access.kind == TouchKind::kFree) {
    shadow_.visit(access.address, access.size, look);
  } else {
    shadow_.touch(access.address, access.size, look);
  }
  if (!unsettled) return;
  for (HistoryDetector* detector : detectors_) detector->settle(access);
}

}  // namespace svd
