// SPDX-License-Identifier: Apache-2.0

#include "detectors/table.h"

#include <algorithm>
#include <array>

#include "detectors/cycles.h"
#include "detectors/declared_atomic.h"
#include "detectors/frontier.h"
#include "detectors/lockset.h"
#include "detectors/online.h"
#include "detectors/paper_two_phase.h"
#include "detectors/races.h"
#include "detectors/read_log.h"
#include "detectors/two_phase.h"

namespace svd {
namespace {

using Setting = DetectorInfo::Setting;

template <RaceDetector::Mode mode>
std::unique_ptr<Detector> races(std::string_view name, const Setting& setting) {
  return std::make_unique<RaceDetector>(name, mode, setting.threads, setting.lock_sets,
                                        setting.history);
}

std::unique_ptr<Detector> declared_atomic(std::string_view name, const Setting& setting) {
  return std::make_unique<DeclaredAtomic>(name, setting.threads);
}

std::unique_ptr<Detector> lockset(std::string_view name, const Setting& setting) {
  return std::make_unique<LocksetDetector>(name, setting.lock_sets, setting.history);
}

std::unique_ptr<Detector> frontier(std::string_view name, const Setting& setting) {
  return std::make_unique<FrontierDetector>(name, setting.threads, setting.history);
}

std::unique_ptr<Detector> read_log(std::string_view name, const Setting& setting) {
  return std::make_unique<ReadLog>(name, setting.history);
}

std::unique_ptr<Detector> two_phase(std::string_view name, const Setting& setting) {
  return std::make_unique<TwoPhaseDetector>(name, setting.threads, setting.lock_sets);
}

std::unique_ptr<Detector> paper_two_phase(std::string_view name, const Setting& setting) {
  return std::make_unique<PaperTwoPhase>(name, setting.threads);
}

template <bool paper>
std::unique_ptr<Detector> cycles(std::string_view name, const Setting& setting) {
  if (setting.units != nullptr) return std::make_unique<CycleDetector>(name, *setting.units);
  return std::make_unique<CycleDetector>(name,
                                         make_units(paper, setting.threads, setting.lock_sets));
}

std::unique_ptr<Detector> online(std::string_view name, const Setting& setting) {
  return std::make_unique<OnlineDetector>(name, setting.threads);
}

constexpr std::array kDetectors{
    DetectorInfo{"svd-2pl", "computations that went on with what others had overwritten",
                 Default::kYes, false, Told::kUpper, two_phase, paper_two_phase, true},
    DetectorInfo{"svd-2pl-minor", "the same, where it may well be meant so", Default::kOnSlice,
                 false, Told::kMinor, two_phase, nullptr, true},
    DetectorInfo{"svd-cycle", "computations that cannot be put one after the other", Default::kNo,
                 false, Told::kAll, cycles<false>, cycles<true>},
    DetectorInfo{"svd-online", "what the published detector would have told while it ran",
                 Default::kNo, false, Told::kAll, online},
    DetectorInfo{"race-hb", "accesses that nothing ordered in this run", Default::kYes, false,
                 Told::kHarmful, races<RaceDetector::Mode::kHappensBefore>},
    DetectorInfo{"race-harmless", "the same, where either order has the same outcome", Default::kNo,
                 false, Told::kHarmless, races<RaceDetector::Mode::kHappensBefore>},
    DetectorInfo{"race-frontier", "those of race-hb from which the others follow", Default::kNo,
                 false, Told::kAll, frontier},
    DetectorInfo{"race-hybrid", "accesses that another run can have at once: no common lock",
                 Default::kNo, false, Told::kAll, races<RaceDetector::Mode::kHybrid>},
    DetectorInfo{"race-lockset", "data that no lock protects consistently", Default::kNo, false,
                 Told::kAll, lockset},
    DetectorInfo{"svd-log", "reads of another thread's value in place of one's own",
                 Default::kOnSlice, false, Told::kAll, read_log},
    DetectorInfo{"declared-atomic", "blocks declared atomic that are not serializable",
                 Default::kYes, true, Told::kAll, declared_atomic},
};

}  // namespace

std::span<const DetectorInfo> all_detectors() { return kDetectors; }

std::unique_ptr<UnitDetector> make_units(bool paper, std::size_t threads, LockSets& lock_sets) {
  if (paper) return std::make_unique<PaperTwoPhase>("svd-2pl", threads);
  return std::make_unique<TwoPhaseDetector>("svd-2pl", threads, lock_sets);
}

bool has_atomic_blocks(const TraceReader& trace) {
  return std::any_of(trace.chunks().begin(), trace.chunks().end(), [](const ChunkInfo& chunk) {
    return (chunk.event_kinds & EventKinds::of<Atomic>().bits) != 0;
  });
}

}  // namespace svd
