// SPDX-License-Identifier: Apache-2.0
#include "analyze/judging.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "detectors/cycles.h"
#include "svd/trace/processors.h"

namespace svd::cli {
namespace {

template <class F>
bool any_of(const std::vector<const Chosen*>& tellers, F&& holds) {
  return std::any_of(tellers.begin(), tellers.end(),
                     [&](const Chosen* teller) { return holds(*teller->info); });
}

}  // namespace

bool failed(const TraceReader& trace) {
  const Ending& ending = trace.ending();
  constexpr std::array kToldToEnd{SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGPIPE, SIGQUIT};
  if (!ending.thread) return false;
  if (ending.kind == EndKind::kExit) return ending.value != 0;
  return ending.kind == EndKind::kSignal &&
         std::find(kToldToEnd.begin(), kToldToEnd.end(), ending.value) == kToldToEnd.end();
}

Collection::Collection(std::vector<Running>& detectors, const std::function<void()>& told)
    : detectors_(detectors) {
  const Detector* units = nullptr;  // of cycles_
  auto tells_all = [](const DetectorInfo& info) { return info.told == Told::kAll; };
  for (auto running = detectors.rbegin(); running != detectors.rend(); ++running) {
    Detector* detector = running->detector.get();
    if (auto* cycles = dynamic_cast<CycleDetector*>(detector)) {
      cycles_ = &*running;
      units = &cycles->units();
      cycles_found_ = beside([cycles] { return cycles->findings(); });
      continue;
    }
    take(*running, detector->findings());
    if (detector != units) running->detector.reset();
    if (!running->found.empty() && any_of(running->tellers, tells_all)) told();
  }
}

void Collection::take(Running& running, std::vector<RawFinding> found) {
  running.found = std::move(found);
  running.harms.assign(running.found.size(), Harm::kSome);
}

void Collection::finish() {
  if (cycles_ == nullptr) return;
  take(*cycles_, cycles_found_.get());
  auto& cycles = dynamic_cast<CycleDetector&>(*cycles_->detector);
  for (Running& running : detectors_) {
    if (running.detector.get() != &cycles.units()) continue;
    running.order = cycles.take_order();
    running.detector.reset();
  }
  cycles_->detector.reset();
}

void judge_harm(std::vector<Running>& detectors, bool paper, Scan& scan) {
  std::vector<const RawFinding*> judged;
  std::vector<std::pair<Running*, std::size_t>> places;
  auto races = [](const DetectorInfo& info) {
    return info.told == Told::kHarmful || info.told == Told::kHarmless;
  };
  for (Running& running : detectors) {
    bool all = any_of(running.tellers, races);
    bool some = !paper && any_of(running.tellers, [](const auto& info) { return info.violations; });
    for (std::size_t i = 0; i < running.found.size(); ++i) {
      if (!all && !(some && !running.found[i].minor)) continue;
      judged.push_back(&running.found[i]);
      places.emplace_back(&running, i);
    }
  }
  std::vector<Harm> harms = harm(scan.preparation(), judged);
  for (std::size_t i = 0; i < harms.size(); ++i) {
    auto [running, at] = places[i];
    if (any_of(running->tellers, races))
      running->harms[at] = harms[i];
    else
      running->found[at].minor = harms[i] == Harm::kNone;
  }
}

std::vector<RawFinding> told(const Chosen& teller, const Running& running, bool failed,
                             Diagnostics& diagnostics) {
  const std::vector<RawFinding>& found = running.found;
  const std::vector<Harm>& harms = running.harms;
  const DetectorInfo& info = *teller.info;
  std::vector<RawFinding> kept;
  std::uint64_t harmless = 0;
  std::uint64_t looks = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    bool none = harms[i] == Harm::kNone;
    bool look = harms[i] == Harm::kLook && !failed && !teller.asked;
    bool other = false;
    if (info.told == Told::kHarmful) {
      harmless += none ? 1 : 0;
      looks += look ? 1 : 0;
      other = none || look;
    } else if (info.told == Told::kHarmless) {
      other = !none;
    } else if (info.told != Told::kAll) {
      other = found[i].minor != (info.told == Told::kMinor);
    }
    if (other) continue;
    kept.push_back(found[i]);
    kept.back().detector = info.name;
  }
  if (harmless > 0) {
    diagnostics.add("harmless-races", Severity::kInfo, harmless,
                    "races with the same outcome in either order; --detectors=race-harmless "
                    "shows them");
  }
  if (looks > 0) {
    diagnostics.add("looks", Severity::kInfo, looks,
                    "races of one thread that reads a word and another one that writes it, in a "
                    "run that ended well; --detectors=race-hb shows them");
  }
  return kept;
}

void judge_units(Running& running, Scan& scan, std::vector<std::vector<RawFinding>>& told) {
  auto violations = [](const DetectorInfo& info) { return info.violations; };
  auto none = [](const std::vector<RawFinding>& list) { return list.empty(); };
  if (!any_of(running.tellers, violations) || std::all_of(told.begin(), told.end(), none)) return;
  if (!running.order) {
    bool paper = running.make == running.tellers.front()->info->make_paper;
    auto make = [paper](std::size_t threads, LockSets& lock_sets) {
      return make_units(paper, threads, lock_sets);
    };
    running.order = unit_order(scan.preparation(), make);
  }
  for (std::vector<RawFinding>& list : told)
    for (RawFinding& finding : list) finding.serializable = running.order->serializable(finding);
}

}  // namespace svd::cli
