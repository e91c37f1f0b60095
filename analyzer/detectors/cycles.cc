// SPDX-License-Identifier: Apache-2.0

#include "detectors/cycles.h"

#include <algorithm>
#include <map>

#include "detectors/scan.h"

namespace svd {
namespace {

// An instruction can read and write.
std::uint64_t key(Moment moment, bool writes) { return moment.value << 1 | (writes ? 1 : 0); }

// Of one time that the violation happened: the access of the unit, and the one that broke into it.
std::pair<std::uint64_t, std::uint64_t> both(const RawFinding& violation, const Meeting& instance) {
  auto wrote = [&](std::size_t i) { return violation.accesses[i].kind != TouchKind::kRead; };
  return {key(instance.earlier, wrote(0)), key(instance.later, wrote(1))};
}

}  // namespace

void CycleDetector::watch(std::span<const RawFinding> violations) {
  for (const RawFinding& violation : violations) {
    for (const Meeting& instance : violation.instances) {
      auto [local, remote] = both(violation, instance);
      watched_.push_back({local});
      watched_.push_back({remote});
    }
  }
  std::sort(watched_.begin(), watched_.end(),
            [](const Watched& a, const Watched& b) { return a.access < b.access; });
}

void CycleDetector::accessed(UnitMember unit, const Touch& access) {
  auto moment_of = [](const Watched& watched) { return watched.access >> 1; };
  while (next_watched_ < watched_.size() &&
         moment_of(watched_[next_watched_]) < access.moment.value)
    ++next_watched_;
  for (std::size_t i = next_watched_;
       i < watched_.size() && moment_of(watched_[i]) == access.moment.value; ++i)
    if (watched_[i].access == key(access.moment, access.writes())) watched_[i].unit = unit;
  graph_.accessed(unit, access);
}

UnitMember CycleDetector::watched_unit(std::uint64_t access) const {
  return std::lower_bound(
             watched_.begin(), watched_.end(), access,
             [](const Watched& watched, std::uint64_t a) { return watched.access < a; })
      ->unit;
}

std::vector<std::optional<bool>> CycleDetector::serializable(
    std::span<const RawFinding> violations) {
  units_.close();
  graph_.close();
  std::vector<std::optional<bool>> answers;
  UnitCycles cycles(graph_, units_.units());
  for (const RawFinding& violation : violations) {
    bool cycle = false;
    bool all = violation.instances.size() == violation.occurrences && !graph_.full();
    for (const Meeting& instance : violation.instances) {
      auto [local, remote] = both(violation, instance);
      UnitMember unit = watched_unit(local);
      UnitMember other = watched_unit(remote);
      all = all && unit != 0 && other != 0;  // what the kernel did may be of no unit
      cycle = cycle || cycles.together(unit, other);
    }
    answers.push_back(cycle ? std::optional(false) : all ? std::optional(true) : std::nullopt);
  }
  return answers;
}

std::vector<RawFinding> CycleDetector::findings() {
  units_.close();
  graph_.close();
  UnitCycles cycles(graph_, units_.units());
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

std::vector<std::optional<bool>> serializable(const Preparation& run, const MakeUnits& make,
                                              std::span<const RawFinding> violations) {
  if (violations.empty()) return {};
  LockSets lock_sets;
  Scan scan(run, lock_sets);
  scan.find_waits();  // so that the units are those that were violated
  CycleDetector detector("svd-cycle", make(scan.threads(), lock_sets));
  detector.watch(violations);
  scan.add(detector);
  scan.walk(Columns{.values = false});
  return detector.serializable(violations);
}

}  // namespace svd
