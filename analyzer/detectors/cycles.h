// SPDX-License-Identifier: Apache-2.0
//
// Computational units that cannot be put one after the other (unit_graph.h): as a detector of their
// own, and as a question that is asked about what svd-2pl found.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detectors/unit_detector.h"
#include "detectors/unit_graph.h"

namespace svd {

class CycleDetector final : public Detector, private UnitListener {
 public:
  // Units are those that `units` finds.
  CycleDetector(std::string_view name, std::unique_ptr<UnitDetector> units,
                std::size_t most_arcs = UnitGraph::kMostArcs)
      : name_(name), units_(std::move(units)), graph_(most_arcs) {
    units_->tell(static_cast<UnitListener&>(*this));
  }

  // To be asked after the walk about violations by these units: watch() makes it look out for them.
  void watch(std::span<const RawFinding> violations);
  // Of each whether its units can be put one after the other, each time that it happened; none when
  // that is not known.
  std::vector<std::optional<bool>> serializable(std::span<const RawFinding> violations);

  bool needs_sharing() const override { return units_->needs_sharing(); }
  void prepare(const Preparation& run) override { units_->prepare(run); }
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    units_->acquire(thread, channel, kind, now);
  }
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override {
    units_->release(thread, channel, kind, now);
  }
  void access(const Touch& access) override { units_->access(access); }
  void fresh(Addr address, std::uint64_t size) override {
    units_->fresh(address, size);
    graph_.fresh(address, size);
  }
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    units_->executed(exec, thread, first);
  }
  void happened(const Event& event, ThreadIndex thread) override {
    units_->happened(event, thread);
  }
  std::vector<RawFinding> findings() override;

  UnitDetector& units() { return *units_; }
  const UnitGraph& graph() const { return graph_; }

 private:
  void accessed(UnitMember unit, const Touch& access) override;
  void follows(UnitMember unit, UnitMember from) override { graph_.follows(unit, from); }
  void follows(UnitMember unit, TagSet from, const TagSets& sets) override {
    graph_.follows(unit, from, sets);
  }
  void decided(UnitMember unit, ThreadIndex thread, const ControlStack& by,
               const TagSets& sets) override {
    graph_.decided(unit, thread, by, sets);
  }

  std::string_view name_;
  std::unique_ptr<UnitDetector> units_;
  UnitGraph graph_;
  std::unordered_map<std::uint64_t, UnitMember> watched_;  // by access: its unit
};

// The same of all of them, by a walk of the run if there are any.
using MakeUnits = std::function<std::unique_ptr<UnitDetector>(std::size_t threads, LockSets&)>;
std::vector<std::optional<bool>> serializable(const Preparation& run, const MakeUnits& make,
                                              std::span<const RawFinding> violations);

}  // namespace svd
