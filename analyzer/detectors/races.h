// SPDX-License-Identifier: Apache-2.0
//
// Data races by happens-before, and the hybrid of happens-before and lock sets. races.cc has the
// definitions.
#pragma once

#include <string_view>

#include "detectors/clocks.h"
#include "detectors/detector.h"
#include "detectors/few.h"
#include "detectors/shadow.h"

namespace svd {

class RaceDetector final : public Detector {
 public:
  enum class Mode {
    kHappensBefore,  // locks order what they guard
    kHybrid,         // locks only exclude
  };

  // `lock_sets` must outlive it.
  RaceDetector(std::string_view name, Mode mode, std::size_t threads, LockSets& lock_sets)
      : mode_(mode), clocks_(threads), lock_sets_(lock_sets), found_(name) {}

  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override { shadow_.clear(address, size); }
  std::vector<RawFinding> findings() override { return found_.list(); }

  // Whether the last access raced with an earlier one.
  bool raced() const { return raced_; }

 private:
  struct Cell {
    Few<Mark> writes, reads;
  };

  Mode mode_;
  Clocks clocks_;
  LockSets& lock_sets_;
  Shadow<Cell> shadow_;
  RawFindings found_;
  bool raced_ = false;
};

}  // namespace svd
