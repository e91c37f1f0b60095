// SPDX-License-Identifier: Apache-2.0
//
// The online detector of the SVD paper as it was published (Figures 7 and 8), run over a trace.
// online.cc has the definition.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cu/control_stack.h"
#include "cu/tag_sets.h"
#include "detectors/detector.h"
#include "detectors/online_memory.h"
#include "detectors/online_plan.h"
#include "detectors/skipper.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"

namespace svd {

class OnlineDetector final : public Detector {
 public:
  // What nothing can follow from any more is looked for when so many records of what units read
  // and wrote are in use.
  static constexpr std::size_t kLeastRecords = std::size_t{1} << 20;  // 8 to 24 MB

  OnlineDetector(std::string_view name, std::size_t threads,
                 std::size_t least_records = kLeastRecords)
      : name_(name),
        memory_(threads, least_records),
        sets_(memory_.units(), [this](UnitMember a, UnitMember b) { memory_.join(a, b); }),
        threads_(threads) {}

  void prepare(const Preparation& run) override;
  void access(const Touch& access) override { pending_.push_back(access); }
  void soon(Addr address, bool) override { memory_.soon(address); }
  void fresh(Addr address, std::uint64_t size) override { memory_.fresh(address, size); }
  bool needs_sharing() const override { return true; }
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override;
  void happened(const Event& event, ThreadIndex) override {
    if (abstract_) tracker_->event(event);
  }
  std::vector<RawFinding> findings() override;

 private:
  struct Thread {
    std::vector<TagSet> values;  // REG_T, and what plans make
    SkipperStack branches;
    ControlStack statements{true};  // of an abstract trace
  };
  struct Found {
    RawFinding finding;
    OnlineMemory::ViewIndex view = 0;
  };

  void run(std::span<const PlannedOp> plan, const Exec& exec, Thread& state, Moment first);
  void access(const PlannedOp& op, const Exec& exec, Thread& state, Moment first);
  void begin(std::uint16_t step, Thread& state);
  void load(Addr address, std::uint64_t size, const Touch* told, TagSet& into);
  void store(Addr address, std::uint64_t size, const Touch* told, TagSet data);
  void check(const PlannedOp& op, const Exec& exec, TagSet set, Moment first);
  void check_branches(Thread& state, Moment store);
  void check(TagSet set, Moment store);
  void report(const OnlineMemory::Conflict& conflict, Moment store);
  const Touch* touch(Moment moment, Addr address, bool write);
  template <class F>
  void each_held(F&& f);
  void forget_sets();
  void forget_units();

  std::string_view name_;
  OnlineMemory memory_;
  TagSets sets_;
  std::vector<Thread> threads_;
  const CodeTable* code_ = nullptr;
  std::optional<ControlTracker> tracker_;  // of an abstract trace
  Skipper skipper_;
  std::optional<OnlinePlans> plans_;
  bool abstract_ = false;
  std::vector<Touch> pending_;  // of the execution at hand
  std::size_t next_ = 0;        // of pending_
  std::size_t thread_ = 0;      // that executes
  // Sets, and when they were checked: by news of the thread that they are of.
  struct Checked {
    TagSet set;
    std::uint32_t news = 0;
  };
  std::array<Checked, 512> checked_{};
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
  std::size_t next_segment_ = 0;
  std::unordered_map<std::uint64_t, Found> found_;
};

}  // namespace svd
