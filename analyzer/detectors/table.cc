// SPDX-License-Identifier: Apache-2.0

#include "detectors/table.h"

#include <algorithm>
#include <array>

#include "detectors/cycles.h"
#include "detectors/declared_atomic.h"
#include "detectors/event_bits.h"
#include "detectors/frontier.h"
#include "detectors/lockset.h"
#include "detectors/online.h"
#include "detectors/paper_two_phase.h"
#include "detectors/races.h"
#include "detectors/read_log.h"
#include "detectors/two_phase.h"

namespace svd {
namespace {

template <RaceDetector::Mode mode>
std::unique_ptr<Detector> races(std::string_view name, std::size_t threads, LockSets& lock_sets) {
  return std::make_unique<RaceDetector>(name, mode, threads, lock_sets);
}

std::unique_ptr<Detector> declared_atomic(std::string_view name, std::size_t threads, LockSets&) {
  return std::make_unique<DeclaredAtomic>(name, threads);
}

std::unique_ptr<Detector> lockset(std::string_view name, std::size_t, LockSets& lock_sets) {
  return std::make_unique<LocksetDetector>(name, lock_sets);
}

std::unique_ptr<Detector> frontier(std::string_view name, std::size_t threads, LockSets&) {
  return std::make_unique<FrontierDetector>(name, threads);
}

std::unique_ptr<Detector> read_log(std::string_view name, std::size_t, LockSets&) {
  return std::make_unique<ReadLog>(name);
}

template <TwoPhaseDetector::Tier tier>
std::unique_ptr<Detector> two_phase(std::string_view name, std::size_t threads,
                                    LockSets& lock_sets) {
  return std::make_unique<TwoPhaseDetector>(name, tier, threads, lock_sets);
}

std::unique_ptr<Detector> paper_two_phase(std::string_view name, std::size_t threads, LockSets&) {
  return std::make_unique<PaperTwoPhase>(name, threads);
}

template <bool paper>
std::unique_ptr<Detector> cycles(std::string_view name, std::size_t threads, LockSets& lock_sets) {
  return std::make_unique<CycleDetector>(name, make_units(paper, threads, lock_sets));
}

std::unique_ptr<Detector> online(std::string_view name, std::size_t threads, LockSets&) {
  return std::make_unique<OnlineDetector>(name, threads);
}

constexpr std::array kDetectors{
    DetectorInfo{"svd-2pl", "computations that went on with what others had overwritten", true,
                 false, Races::kAll, two_phase<TwoPhaseDetector::Tier::kUpper>, paper_two_phase,
                 true},
    DetectorInfo{"svd-2pl-minor", "the same, where it may well be meant so", false, false,
                 Races::kAll, two_phase<TwoPhaseDetector::Tier::kMinor>, nullptr, true},
    DetectorInfo{"svd-cycle", "computations that cannot be put one after the other", false, false,
                 Races::kAll, cycles<false>, cycles<true>},
    DetectorInfo{"svd-online", "what the published detector would have told while it ran", false,
                 false, Races::kAll, online},
    DetectorInfo{"race-hb", "accesses that nothing ordered in this run", true, false,
                 Races::kHarmful, races<RaceDetector::Mode::kHappensBefore>},
    DetectorInfo{"race-harmless", "the same, where either order has the same outcome", false, false,
                 Races::kHarmless, races<RaceDetector::Mode::kHappensBefore>},
    DetectorInfo{"race-frontier", "those of race-hb from which the others follow", false, false,
                 Races::kAll, frontier},
    DetectorInfo{"race-hybrid", "accesses that another run can have at once: no common lock", false,
                 false, Races::kAll, races<RaceDetector::Mode::kHybrid>},
    DetectorInfo{"race-lockset", "data that no lock protects consistently", false, false,
                 Races::kAll, lockset},
    DetectorInfo{"svd-log", "reads of another thread's value in place of one's own", false, false,
                 Races::kAll, read_log},
    DetectorInfo{"declared-atomic", "blocks declared atomic that are not serializable", true, true,
                 Races::kAll, declared_atomic},
};

}  // namespace

std::span<const DetectorInfo> all_detectors() { return kDetectors; }

std::unique_ptr<UnitDetector> make_units(bool paper, std::size_t threads, LockSets& lock_sets) {
  if (paper) return std::make_unique<PaperTwoPhase>("svd-2pl", threads);
  return std::make_unique<TwoPhaseDetector>("svd-2pl", TwoPhaseDetector::Tier::kUpper, threads,
                                            lock_sets);
}

bool has_atomic_blocks(const TraceReader& trace) {
  return std::any_of(trace.chunks().begin(), trace.chunks().end(), [](const ChunkInfo& chunk) {
    return (chunk.event_kinds & event_bit<Atomic>()) != 0;
  });
}

}  // namespace svd
