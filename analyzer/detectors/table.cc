// SPDX-License-Identifier: Apache-2.0

#include "detectors/table.h"

#include <array>

#include "detectors/declared_atomic.h"
#include "detectors/races.h"

namespace svd {
namespace {

template <RaceDetector::Mode mode>
std::unique_ptr<Detector> races(std::string_view name, std::size_t threads, LockSets& lock_sets) {
  return std::make_unique<RaceDetector>(name, mode, threads, lock_sets);
}

std::unique_ptr<Detector> declared_atomic(std::string_view name, std::size_t threads, LockSets&) {
  return std::make_unique<DeclaredAtomic>(name, threads);
}

constexpr std::array kDetectors{
    DetectorInfo{"race-hb", "accesses that nothing ordered in this run", true,
                 races<RaceDetector::Mode::kHappensBefore>},
    DetectorInfo{"race-hybrid", "accesses that another run can have at once: no common lock", false,
                 races<RaceDetector::Mode::kHybrid>},
    DetectorInfo{"declared-atomic", "blocks declared atomic that are not serializable", false,
                 declared_atomic},
};

}  // namespace

std::span<const DetectorInfo> all_detectors() { return kDetectors; }

}  // namespace svd
