// SPDX-License-Identifier: Apache-2.0
//
// Computational units that cannot be put one after the other (unit_graph.h): as a detector of their
// own, and as a question that is asked about what svd-2pl found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

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

  // To be asked after the walk about violations by these units: watch() makes it look out for them.
  void watch(std::span<const RawFinding> violations);
  // Of each whether its units can be put one after the other, each time that it happened; none when
  // that is not known.
  std::vector<std::optional<bool>> serializable(std::span<const RawFinding> violations);

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
  void unit_fresh(Addr address, std::uint64_t size) override { graph_.fresh(address, size); }

  std::string_view name_;
  std::unique_ptr<UnitDetector> own_;
  UnitDetector& units_;
  UnitGraph graph_;
  // Accesses of violations, in the order of the run, and their units.
  struct Watched {
    std::uint64_t access = 0;
    UnitMember unit = 0;
  };
  UnitMember watched_unit(std::uint64_t access) const;

  std::vector<Watched> watched_;
  std::size_t next_watched_ = 0;  // the first one that is not before the access at hand
};

// The same of all of them, by a walk of the run if there are any.
using MakeUnits = std::function<std::unique_ptr<UnitDetector>(std::size_t threads, LockSets&)>;
std::vector<std::optional<bool>> serializable(const Preparation& run, const MakeUnits& make,
                                              std::span<const RawFinding> violations);

}  // namespace svd
