// SPDX-License-Identifier: Apache-2.0
//
// A detector that finds computational units, for those who want to see the units themselves.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cu/control_stack.h"
#include "cu/tag_sets.h"
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

// Hears what units do with shared memory, in the order of the run, and what they follow from where
// that does not make them one unit: the dependences that were cut.
class UnitListener {
 public:
  virtual ~UnitListener() = default;
  virtual void accessed(UnitMember unit, const Touch& access) = 0;
  virtual void follows(UnitMember unit, UnitMember from) = 0;
  virtual void follows(UnitMember unit, TagSet from, const TagSets& sets) = 0;
  // That the unit did something was decided.
  virtual void decided(UnitMember unit, ThreadIndex thread, const ControlStack& by,
                       const TagSets& sets) = 0;
  virtual void unit_fresh(Addr address, std::uint64_t size) = 0;  // as Detector::fresh
  virtual void unit_soon(Addr address) = 0;                       // as Detector::soon, if shared
};

class UnitDetector : public Detector {
 public:
  using Listener = std::function<void(const UnitPart&)>;
  // Hears of each part, in the order of the run.
  void tell(Listener listener) { listener_ = std::move(listener); }
  // The listener must live as long as the walk.
  void tell(UnitListener& listener) { unit_listener_ = &listener; }
  Units& units() { return units_; }
  // The walk is over, and only units and findings are asked for.
  virtual void close() {}

 protected:
  explicit UnitDetector(std::size_t threads) : units_(threads) {}
  void part(const Exec& exec, std::size_t thread, Seq seq, UnitMember unit) const {
    if (!listener_) return;
    auto index = static_cast<std::uint16_t>(exec.shape->part.first + (seq - exec.seq));
    listener_({seq, ThreadIndex(static_cast<std::uint16_t>(thread)), exec.shape->id, index, unit});
  }

  void heard(UnitMember unit, const Touch& access) const {
    if (unit_listener_ != nullptr) unit_listener_->accessed(unit, access);
  }
  void heard(UnitMember unit, const std::vector<UnitMember>& from) const {
    if (unit_listener_ == nullptr) return;
    for (UnitMember member : from) unit_listener_->follows(unit, member);
  }
  void heard(UnitMember unit, const Touch& access, TagSet address, const ControlStack& control,
             const TagSets& sets) const {
    if (unit_listener_ == nullptr) return;
    unit_listener_->accessed(unit, access);
    unit_listener_->follows(unit, address, sets);
    unit_listener_->decided(unit, access.thread, control, sets);
  }

  void heard_fresh(Addr address, std::uint64_t size) const {
    if (unit_listener_ != nullptr) unit_listener_->unit_fresh(address, size);
  }
  void heard_soon(Addr address) const {
    if (unit_listener_ != nullptr) unit_listener_->unit_soon(address);
  }

  Units units_;

 private:
  Listener listener_;
  UnitListener* unit_listener_ = nullptr;
};

}  // namespace svd
