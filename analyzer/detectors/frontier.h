// SPDX-License-Identifier: Apache-2.0
//
// Frontier races: the tightest conflicts between threads. frontier.cc has the definition.
#pragma once

#include <string_view>
#include <vector>

#include "detectors/clocks.h"
#include "detectors/detector.h"
#include "detectors/mark_list.h"
#include "detectors/shadow.h"

namespace svd {

class FrontierDetector final : public Detector {
 public:
  FrontierDetector(std::string_view name, std::size_t threads)
      : threads_(threads, Thread{{Version{Moment(), VectorClock(threads)}}, Moment()}),
        found_(name) {}

  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override { shadow_.clear(address, size); }
  std::vector<RawFinding> findings() override { return found_.list(); }

 private:
  struct Cell {
    MarkList writes, reads;
  };
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
    Mark mark;
    Addr address{};
    std::uint64_t size = 0;
  };

  const VectorClock& clock(std::size_t thread) const {
    return threads_[thread].versions.back().clock;
  }
  // The one from `since` on, to be changed; what the thread accessed before keeps the old one.
  VectorClock& new_clock(ThreadIndex thread, Moment since);
  VectorClock& new_clock(ThreadIndex thread);
  const VectorClock& clock_at(const Mark& mark) const;
  bool before(const Mark& mark, ThreadIndex thread) const {
    return mark.is(thread) || mark.moment < clock(thread.value)[mark.thread].value;
  }
  void order(const Touch& access);

  Shadow<Cell> shadow_;
  std::vector<Thread> threads_;
  std::vector<VectorClock> channels_;
  std::vector<Conflict> conflicts_;  // of the access at hand
  RawFindings found_;
};

}  // namespace svd
