// SPDX-License-Identifier: Apache-2.0
//
// Violations of strict two-phase locking by computational units: what a unit read was overwritten
// by another thread before the unit had used it. two_phase.cc has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cu/units.h"
#include "cu/value_flow.h"
#include "detectors/clocks.h"
#include "detectors/few.h"
#include "detectors/long_list.h"
#include "detectors/manners.h"
#include "detectors/shadow.h"
#include "detectors/two_phase_sharing.h"
#include "detectors/unit_detector.h"

namespace svd {

class TwoPhaseDetector final : public UnitDetector, private SharedMemory {
 public:
  // `lock_sets` must outlive it.
  TwoPhaseDetector(std::string_view name, std::size_t threads, LockSets& lock_sets)
      : UnitDetector(threads),
        name_(name),
        lock_sets_(lock_sets),
        orders_(threads),
        threads_(threads) {
    conflicts_.push_back({});  // remarks count from 1
  }

  bool needs_sharing() const override { return true; }
  void prepare(const Preparation& run) override;
  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void access(const Touch& access) override {
    pending_.push_back(access);
    any_shared_ = any_shared_ || access.shared;
  }
  void soon(Addr address, bool shared) override {
    if (!shared) return;
    if (const Cell* cell = ahead_.bring(shadow_, address)) {
      cell->reads.bring_rest_near();
      cell->writes.bring_rest_near();
    }
    heard_soon(address);
  }
  void fresh(Addr address, std::uint64_t size) override;
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override;
  void happened(const Event& event, ThreadIndex thread) override;
  void close() override;
  std::vector<RawFinding> findings() override;

 private:
  // What a thread had done by some time. No unit lasts for so much that the numbers begin anew.
  struct [[gnu::packed, gnu::aligned(4)]] Progress {
    static constexpr unsigned kOwnBits = 35, kReleasesBits = 29;
    static constexpr std::uint64_t kOwn = (std::uint64_t{1} << kOwnBits) - 1;
    static constexpr std::uint64_t kReleases = (std::uint64_t{1} << kReleasesBits) - 1;
    std::uint64_t own : kOwnBits = 0;            // instructions
    std::uint64_t releases : kReleasesBits = 0;  // how often it came to hold no lock
  };
  // A read of shared memory, with which a unit began.
  struct Read {
    static constexpr std::uint32_t kConflicts = (std::uint32_t{1} << 31) - 1;
    BriefMark mark;
    Progress progress;
    UnitMember unit = 0;
    std::uint32_t conflict : 31 = 0;  // the first one that overwrote it, of those of its unit
    std::uint32_t written : 1 = 0;    // by its own thread, before it was overwritten
  };
  struct Write {
    BriefMark mark;
    UnitMember unit = 0;
  };
  struct Cell {
    Few<Read> reads;    // of units that may be active, each thread's sites once
    Few<Write> writes;  // the last one of each thread that may matter
  };
  static_assert(sizeof(Cell) == 52);
  struct Thread {
    Progress progress;
    std::uint32_t depth = 0;      // locks that it holds
    std::uint32_t conflicts = 0;  // of units that may be active
    std::uint64_t newest = 0;     // the moment of the last mark of it
    std::uint64_t ended = 0;      // all that it did up to here is of units that have ended
  };
  // A unit's input that was overwritten while the unit was active.
  struct Conflict {
    Read read;
    Mark remote;
    UnitMember remote_unit = 0;
    Addr address{};
    std::uint64_t size = 0;
    bool counted[2] = {false, false};  // by whether minor
  };
  // What shows that the unit went on with what was no longer true.
  struct Trigger {
    Moment moment{};
    std::optional<Touch> access{};
    TagSet value{};  // of a store: what it follows from
  };
  // What speaks for a conflict with its trigger.
  struct Evidence {
    bool pair = false, region = false, rmw = false, nolock = false;
    bool minor = false;
    std::uint64_t score() const {
      return (pair ? 8U : 0U) + (region ? 4U : 0U) + (rmw ? 2U : 0U) + (nolock ? 1U : 0U);
    }
  };
  using SitePair = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const SitePair& key) const {
      return (key.first * 0x9e3779b97f4a7c15) ^ key.second;
    }
  };

  bool shared(Seq seq, bool write, Addr address, std::uint64_t size) override;
  void address(Seq seq, TagSet set) override;
  UnitMember read(TagSet address) override;
  void write(TagSet value, TagSet address) override;
  void branch(Seq seq, TagSet condition) override;

  bool active(const BriefMark& mark, UnitMember unit);
  void outside(const Touch& access);
  void belongs(UnitMember unit, TagSet address) const;
  void reread(Cell& cell, UnitMember unit, TagSet address, Addr at, std::uint64_t size);
  void read_again(const Read& read, TagSet address, const Range& range);
  void overwrite(Cell& cell, const Touch& by, UnitMember unit, Addr at, std::uint64_t size);
  void write_again(const Cell& cell, Addr at, std::uint64_t size);
  bool follows(TagSet set, UnitMember unit);
  void check(TagSet set, const Trigger& trigger);
  void check_control(const Trigger& trigger);
  void report(Conflict& conflict, const Trigger& trigger);
  Evidence weigh(const Conflict& conflict, const Trigger& trigger);
  bool loses_update(const Conflict& conflict, const Trigger& trigger);
  bool both_ways(const Conflict& conflict, const Touch& trigger);
  void add(const Mark& first, const Mark& remote, const UnitPair& units, const Trigger& trigger,
           const Range& range, const Evidence& evidence, std::uint64_t distance, bool count);

  std::string_view name_;
  LockSets& lock_sets_;
  Clocks orders_;
  std::vector<Thread> threads_;
  LongList<Conflict> conflicts_;      // by remark
  std::uint64_t open_conflicts_ = 0;  // those that threads_ count
  Manners manners_;
  Shadow<Cell> shadow_;
  CellsAhead ahead_;
  std::optional<Seq> fault_;  // the instruction of which the program died
  std::optional<ValueFlow> values_;

  // The execution at hand.
  const Exec* exec_ = nullptr;
  std::vector<Touch> pending_;
  bool any_shared_ = false;  // of pending_
  std::size_t next_ = 0;     // of pending_
  std::size_t thread_ = 0;
  Moment moment_of_seq_0_{};
  Touch touch_;
  bool touched_ = false;

  std::unordered_map<SitePair, RawFinding, Hash> upper_, lower_;
};

}  // namespace svd
