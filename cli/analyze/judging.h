// SPDX-License-Identifier: Apache-2.0
//
// Of what detectors found, what each is to tell: without what does no harm, with a mark where the
// units are serializable all the same.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "detectors/harmless.h"
#include "detectors/scan.h"
#include "detectors/table.h"
#include "detectors/unit_cycles.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd::cli {

// A detector that is to run. `on_slice`: nobody asked for it, it is for what led to a failure.
struct Chosen {
  const DetectorInfo* info;
  bool asked;
  bool on_slice;
};

// Detectors that run, each with the lines of the table that tell what it finds.
struct Running {
  DetectorInfo::Make make;
  std::unique_ptr<Detector> detector;
  std::vector<const Chosen*> tellers{};
  std::vector<RawFinding> found{};
  std::vector<Harm> harms{};         // of these
  std::optional<UnitOrder> order{};  // of the units of a walk in which svd-cycle ran, too
};

// Whether the program ended by a fault of its own: it was not told to end.
bool failed(const TraceReader& trace);

// After the walk, asks each detector what it found; each gives its memory back before the next one
// is asked. What svd-cycle finds takes long, and comes when finish() is called: it is looked for
// beside what else is done until then, where this process may use a second processor.
class Collection {
 public:
  // `told` is called when something was found that is told in any case. Both must outlive it.
  Collection(std::vector<Running>& detectors, const std::function<void()>& told);
  void finish();

 private:
  static void take(Running& running, std::vector<RawFinding> found);

  std::vector<Running>& detectors_;
  Running* cycles_ = nullptr;
  std::future<std::vector<RawFinding>> cycles_found_;
};

// What races do, and violations that would be told: what does no harm of these is minor. Those of
// the paper's units are told as published.
void judge_harm(std::vector<Running>& detectors, bool paper, Scan& scan);

// What one of its tellers is to tell. In a run that ended well looks are told to those who ask for
// them.
std::vector<RawFinding> told(const Chosen& teller, const Running& running, bool failed,
                             Diagnostics& diagnostics);

// Of violations, which leave the units serializable: where svd-cycle did not look at these units,
// by a walk. `told` is what each of the tellers is to tell.
void judge_units(Running& running, Scan& scan, std::vector<std::vector<RawFinding>>& told);

}  // namespace svd::cli
