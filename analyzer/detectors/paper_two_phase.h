// SPDX-License-Identifier: Apache-2.0
//
// Computational units and violations of strict two-phase locking exactly as they were published
// (SVD, Figures 5 and 6), to compare with TwoPhaseDetector. paper_two_phase.cc has the definitions.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detectors/long_list.h"
#include "detectors/shadow.h"
#include "detectors/two_phase_sharing.h"
#include "detectors/unit_detector.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"

namespace svd {

class PaperTwoPhase final : public UnitDetector {
 public:
  PaperTwoPhase(std::string_view name, std::size_t threads)
      : UnitDetector(threads), name_(name), threads_(threads) {
    conflicts_.push_back({});  // remarks count from 1
  }

  bool needs_sharing() const override { return true; }
  void prepare(const Preparation& run) override;
  void access(const Touch& access) override { pending_.push_back(access); }
  void fresh(Addr address, std::uint64_t size) override;
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override;
  void happened(const Event& event, ThreadIndex) override { tracker_->event(event); }
  std::vector<RawFinding> findings() override;

 private:
  // An access to shared memory by a unit, as long as nobody conflicted with it.
  struct Access {
    Mark mark;
    UnitMember unit = 0;
  };
  struct Cell {
    std::vector<Access> accesses;  // of all threads: each place in the code once for a unit
    std::vector<std::pair<std::uint16_t, UnitMember>> writers;  // of each thread
  };
  struct Conflict {
    Mark first;
    Mark remote;
    UnitPair units;
    Addr address{};
    std::uint64_t size = 0;
    bool told = false;
  };
  struct Branch {
    Seq seq{};
    Pc end{};  // of its region
    UnitMember unit = 0;
  };
  struct Thread {
    std::vector<UnitMember> cells;
    ByteShadow<UnitMember> memory;    // who wrote it last, of the thread
    std::vector<Branch> branches;     // that may still decide
    std::vector<UnitMember> carried;  // what an instruction that was left halfway follows from
  };

  void step(const Exec& exec, std::size_t thread, std::uint16_t index, Seq parent, Moment moment);
  UnitMember branch(Thread& thread, Seq parent) const;
  void cut(std::size_t thread, const Touch& read);
  UnitMember join(std::size_t thread);
  void remember(const Touch& access, UnitMember unit);
  void conflict(const Access& earlier, const Touch& by, UnitMember unit, Addr address,
                std::uint64_t size);
  void report(UnitMember unit, Moment moment, std::size_t thread);

  std::string_view name_;
  std::vector<Thread> threads_;
  LongList<Conflict> conflicts_;  // by remark of their units
  Shadow<Cell> shadow_;
  const CodeTable* code_ = nullptr;
  std::optional<ControlTracker> tracker_;
  bool abstract_ = false;
  std::vector<Touch> pending_;            // of the execution at hand
  std::vector<UnitMember> predecessors_;  // of the instruction at hand
  std::vector<UnitMember> cut_;           // and those in units that had ended
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
  std::unordered_map<std::uint64_t, RawFinding> found_;
};

}  // namespace svd
