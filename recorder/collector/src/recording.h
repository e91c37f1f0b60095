// SPDX-License-Identifier: Apache-2.0
//
// The recording of one process image: its ring, drained into a trace by a thread of its own.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "live_state.h"
#include "ring.h"
#include "svd/collector/collector.h"
#include "svd/trace/process.h"
#include "trace_feed.h"
#include "translator.h"

namespace svd {

// What a recording asks of the collector. Called by the recording's thread.
struct RecordingHooks {
  std::function<std::string(std::uint32_t)> child_trace;  // of a forked child
  std::function<void(std::uint32_t)> expect;              // a ring of this process will come
  std::function<std::string()> next_image_trace;          // of this process after an exec
  std::function<std::optional<int>()> wait_status;        // how the process ended, if known
};

struct RecordingLimits {
  std::uint64_t max_size = 0;
  std::uint64_t min_free = 0;
};

class Recording {
 public:
  Recording(Ring ring, Process process, std::string file, RecordingLimits limits,
            RecordingHooks hooks);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  bool running() const { return running_; }
  // Waits for the end.
  RecordedRun result();

 private:
  void run();
  void record();
  void begin(Translator& translator);
  void housekeeping(Translator& translator);
  void stop(Translator& translator, const std::string& reason);
  void finish(Translator& translator);
  void discard();

  Ring ring_;
  Process process_;
  RecordingLimits limits_;
  RecordingHooks hooks_;
  LiveState live_;
  std::unique_ptr<TraceFeed> feed_;
  std::uint64_t position_ = 0;
  bool stopped_ = false;
  bool killed_ = false;  // the process, before it could say how it ends
  RecordedRun run_;
  std::atomic<bool> running_{true};
  std::thread thread_;
};

}  // namespace svd
