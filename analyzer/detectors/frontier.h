// SPDX-License-Identifier: Apache-2.0
//
// Frontier races: the tightest conflicts between threads. frontier.cc has the definition.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "detectors/clocks.h"
#include "detectors/history.h"

namespace svd {

class FrontierDetector final : public HistoryDetector {
 public:
  FrontierDetector(std::string_view name, std::size_t threads,
                   std::shared_ptr<History> history = std::make_shared<History>())
      : HistoryDetector(name, std::move(history)),
        threads_(threads, Thread{{Version{Moment(), VectorClock(threads)}}, Moment()}) {}

  void acquired(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void released(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  bool look(HistoryCell& cell, Sight& sight) override;
  void settle(const Touch& access) override;

 private:
  // A thread's clock from a moment on.
  struct Version {
    Moment since{};
    VectorClock clock;
  };
  struct Thread {
    std::vector<Version> versions;
    Moment last_access{};
  };
  struct Conflict {
    BriefMark mark;
    Addr address{};
    std::uint64_t size = 0;
  };

  const VectorClock& clock(std::size_t thread) const {
    return threads_[thread].versions.back().clock;
  }
  // The one from `since` on, to be changed; what the thread accessed before keeps the old one.
  VectorClock& new_clock(ThreadIndex thread, Moment since);
  VectorClock& new_clock(ThreadIndex thread);
  const VectorClock& clock_at(const BriefMark& mark) const;
  bool before(const BriefMark& mark, ThreadIndex thread) const {
    return mark.is(thread) || mark.moment < clock(thread.value)[mark.thread].value;
  }
  bool replaced(const BriefMark& mark, const Touch& by) const;
  void order(const Touch& access);

  std::vector<Thread> threads_;
  std::vector<VectorClock> channels_;
  std::vector<Conflict> conflicts_;  // of the access at hand
};

}  // namespace svd
