// SPDX-License-Identifier: Apache-2.0

#include "detectors/cycles.h"

#include <algorithm>
#include <map>

#include "detectors/scan.h"

namespace svd {

std::vector<RawFinding> CycleDetector::findings() {
  units_.close();
  graph_.close();
  UnitCycles cycles(graph_, units_.units());
  order_ = cycles.order();
  std::map<std::vector<std::uint32_t>, RawFinding> by_sites;
  for (const std::vector<UnitCycles::Step>& cycle : cycles.list()) {
    std::vector<std::uint32_t> sites;
    for (const UnitCycles::Step& step : cycle)
      sites.insert(sites.end(), {step.first.site, step.second.site});
    RawFinding& finding = by_sites[sites];
    if (finding.occurrences++ != 0) continue;
    finding.detector = name_;
    for (const UnitCycles::Step& step : cycle) {
      finding.accesses.emplace_back("from", step.first, Addr(), 0);
      finding.accesses.emplace_back("to", step.second, Addr(), 0);
    }
  }
  std::vector<RawFinding> found;
  found.reserve(by_sites.size());
  for (auto& [sites, finding] : by_sites) found.push_back(std::move(finding));
  std::sort(found.begin(), found.end(), [](const RawFinding& a, const RawFinding& b) {
    return std::pair(a.accesses.size(), a.accesses[0].moment) <
           std::pair(b.accesses.size(), b.accesses[0].moment);
  });
  return found;
}

UnitOrder unit_order(const Preparation& run, const MakeUnits& make) {
  LockSets lock_sets;
  Scan scan(run, lock_sets);
  scan.find_waits();  // so that the units are the same again
  CycleDetector detector("svd-cycle", make(scan.threads(), lock_sets));
  scan.add(detector);
  scan.walk(Columns{.values = false});
  detector.findings();
  return detector.take_order();
}

}  // namespace svd
