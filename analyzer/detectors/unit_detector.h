// SPDX-License-Identifier: Apache-2.0
//
// A detector that finds computational units, for those who want to see the units themselves.
#pragma once

#include <functional>
#include <utility>

#include "cu/units.h"
#include "detectors/detector.h"

namespace svd {

// An instruction that belongs to a unit. Units become one later: ask units() at the end.
struct UnitPart {
  Seq seq{};
  ThreadIndex thread{};
  BlockId block{};
  std::uint16_t instruction = 0;
  UnitMember unit = 0;
};

class UnitDetector : public Detector {
 public:
  using Listener = std::function<void(const UnitPart&)>;
  // Hears of each part, in the order of the run.
  void tell(Listener listener) { listener_ = std::move(listener); }
  Units& units() { return units_; }

 protected:
  explicit UnitDetector(std::size_t threads) : units_(threads) {}
  void part(const Exec& exec, std::size_t thread, Seq seq, UnitMember unit) const {
    if (!listener_) return;
    auto index = static_cast<std::uint16_t>(exec.shape->part.first + (seq - exec.seq));
    listener_({seq, ThreadIndex(static_cast<std::uint16_t>(thread)), exec.shape->id, index, unit});
  }

  Units units_;

 private:
  Listener listener_;
};

}  // namespace svd
