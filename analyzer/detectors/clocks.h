// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks (Lamport, Fidge, Mattern) whose ticks are moments of the run: entry u of a thread's
// clock is the moment up to which what thread u did is before what the thread does now. Because
// there is one total order of moments, a remembered access needs no clock of its own: its moment
// and thread are its epoch (FastTrack, Flanagan and Freund, 2009).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "detectors/touch.h"

namespace svd {

class VectorClock {
 public:
  explicit VectorClock(std::size_t threads = 0) : entries_(threads) {}

  Moment operator[](std::size_t thread) const { return entries_[thread]; }
  void set(ThreadIndex thread, Moment moment) { entries_[thread.value] = moment; }
  void join(const VectorClock& other) {
    if (entries_.size() < other.entries_.size()) entries_.resize(other.entries_.size());
    for (std::size_t i = 0; i < other.entries_.size(); ++i)
      entries_[i] = std::max(entries_[i], other.entries_[i]);
  }
  bool empty() const { return entries_.empty(); }
  const Moment* data() const { return entries_.data(); }

 private:
  std::vector<Moment> entries_;
};

// The clocks of all threads and channels.
class Clocks {
 public:
  explicit Clocks(std::size_t threads) : threads_(threads, VectorClock(threads)) {}

  void acquire(ThreadIndex thread, ChannelId channel) {
    if (channel.value < channels_.size()) threads_[thread.value].join(channels_[channel.value]);
  }
  // All that the thread did before `now`.
  void release(ThreadIndex thread, ChannelId channel, Moment now) {
    if (channel.value >= channels_.size()) channels_.resize(channel.value + 1);
    threads_[thread.value].set(thread, now);
    channels_[channel.value].join(threads_[thread.value]);
  }

  // Whether what a mark remembers is before what the thread does now; good until a clock changes.
  class Before {
   public:
    bool operator()(const BriefMark& mark) const {
      return mark.is(thread_) | (mark.moment < clock_[mark.thread].value);
    }

   private:
    friend class Clocks;
    Before(ThreadIndex thread, const Moment* clock) : thread_(thread), clock_(clock) {}
    ThreadIndex thread_;
    const Moment* clock_;
  };
  Before before(ThreadIndex thread) const { return {thread, threads_[thread.value].data()}; }

 private:
  std::vector<VectorClock> threads_;
  std::vector<VectorClock> channels_;
};

}  // namespace svd
