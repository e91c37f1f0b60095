// SPDX-License-Identifier: Apache-2.0
//
// Computational units that cannot be put one after the other (unit_cycles.h): as a detector of
// their own, and for questions about what svd-2pl found.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "detectors/unit_cycles.h"
#include "detectors/unit_detector.h"
#include "detectors/unit_graph.h"

namespace svd {

class CycleDetector final : public Detector, private UnitListener {
 public:
  // Units are those that `units` finds, which runs in the same walk and outlives it.
  CycleDetector(std::string_view name, UnitDetector& units) : name_(name), units_(units) {
    units_.tell(static_cast<UnitListener&>(*this));
  }
  // The same, and runs it.
  CycleDetector(std::string_view name, std::unique_ptr<UnitDetector> units)
      : CycleDetector(name, *units) {
    own_ = std::move(units);
  }

  bool needs_sharing() const override { return own_ && own_->needs_sharing(); }
  void prepare(const Preparation& run) override {
    if (own_) own_->prepare(run);
  }
  bool wants_accesses() const override { return own_ != nullptr; }
  bool follows_execution() const override { return own_ != nullptr; }
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    own_->acquire(thread, channel, kind, now);
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    own_->release(thread, channel, kind, now);
  }
  void access(const Touch& access) override { own_->access(access); }
  void fresh(Addr address, std::uint64_t size) override { own_->fresh(address, size); }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    own_->executed(exec, thread, first);
  }
  void happened(const Event& event, ThreadIndex thread) override { own_->happened(event, thread); }
  std::vector<RawFinding> findings() override;

  UnitDetector& units() { return units_; }
  // When findings are known.
  UnitOrder take_order() { return std::move(order_); }

 private:
  void accessed(UnitMember unit, const Touch& access) override { graph_.accessed(unit, access); }
  void follows(UnitMember unit, UnitMember from) override { graph_.follows(unit, from); }
  void follows(UnitMember unit, TagSet from, const TagSets& sets) override {
    graph_.follows(unit, from, sets);
  }
  void decided(UnitMember unit, ThreadIndex thread, const ControlStack& by,
               const TagSets& sets) override {
    graph_.decided(unit, thread, by, sets);
  }
  void unit_fresh(Addr address, std::uint64_t size) override { graph_.fresh(address, size); }
  void unit_soon(Addr address) override { graph_.soon(address); }

  std::string_view name_;
  std::unique_ptr<UnitDetector> own_;
  UnitDetector& units_;
  UnitGraph graph_;
  UnitOrder order_;
};

// The same by a walk of the run.
using MakeUnits = std::function<std::unique_ptr<UnitDetector>(std::size_t threads, LockSets&)>;
UnitOrder unit_order(const Preparation& run, const MakeUnits& make);

}  // namespace svd
