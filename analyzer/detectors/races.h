// SPDX-License-Identifier: Apache-2.0
//
// Data races by happens-before, and the hybrid of happens-before and lock sets. races.cc has the
// definitions.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "detectors/clocks.h"
#include "detectors/history.h"

namespace svd {

class RaceDetector final : public HistoryDetector {
 public:
  enum class Mode {
    kHappensBefore,  // locks order what they guard
    kHybrid,         // locks only exclude
  };

  // `lock_sets` must outlive it.
  RaceDetector(std::string_view name, Mode mode, std::size_t threads, LockSets& lock_sets,
               std::shared_ptr<History> history = std::make_shared<History>())
      : HistoryDetector(name, std::move(history)),
        mode_(mode),
        clocks_(threads),
        lock_sets_(lock_sets) {}

  void acquired(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void released(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  bool look(HistoryCell& cell, Sight& sight) override;

 private:
  bool replaced(const BriefMark& mark, const Touch& by);
  bool races(const BriefMark& mark, const Touch& now);

  Mode mode_;
  Clocks clocks_;
  LockSets& lock_sets_;
  std::vector<const BriefMark*> racing_;  // with the access at hand; grows only
};

}  // namespace svd
