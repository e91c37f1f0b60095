// SPDX-License-Identifier: Apache-2.0
//
// All detectors: a line in table.cc for each.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "detectors/detector.h"
#include "detectors/history.h"
#include "detectors/unit_detector.h"

namespace svd {

// Which of what was found a detector tells: of races those that are harmless (harmless.h) or not,
// of violations those that may well be meant so or not.
enum class Told { kAll, kHarmful, kHarmless, kUpper, kMinor };

// When a detector runs that nobody asks for.
enum class Default {
  kYes,
  kOnSlice,  // in a run that failed, and what it finds is told where it led to the failure
  kNo,
};

struct DetectorInfo {
  std::string_view name;
  std::string_view summary;
  Default by_default;
  bool needs_atomic_blocks;  // finds nothing in a trace that declares none
  Told told;
  // What there is where the detectors of a walk are made.
  struct Setting {
    std::size_t threads;
    LockSets& lock_sets;
    UnitDetector* units = nullptr;                                   // runs in the same walk
    std::shared_ptr<History> history = std::make_shared<History>();  // of all in the same walk
  };
  using Make = std::unique_ptr<Detector> (*)(std::string_view name, const Setting& setting);
  Make make;                  // detectors made by the same function are one
  Make make_paper = nullptr;  // with the units of the paper
  bool violations = false;    // of units: they can be serializable nevertheless (unit_cycles.h)
};

std::span<const DetectorInfo> all_detectors();

// What finds computational units: those of the default, or of the paper.
std::unique_ptr<UnitDetector> make_units(bool paper, std::size_t threads, LockSets& lock_sets);

bool has_atomic_blocks(const TraceReader& trace);

}  // namespace svd
