// SPDX-License-Identifier: Apache-2.0
//
// Who ran and how it ended, gathered chunk by chunk: by the writer for the index, and by the reader
// when the index is missing, with the same answer.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "svd/trace/chunk.h"
#include "svd/trace/event.h"
#include "svd/trace/reader.h"

namespace svd {

class RunSummary {
 public:
  void on_run(ThreadId thread, Seq first, std::uint64_t steps);  // in order; steps may be 0
  void on_event(ThreadId thread, const EventBody& body);         // after the runs before it

  std::vector<ThreadInfo> threads() const;  // by id
  // Forgets who ran when; names, parents and the ending stay.
  void forget_runs();
  // What a thread ran in a stretch of which on_run is not told in detail.
  void add_runs(const ThreadInfo& stretch);
  const Ending& ending() const { return ending_; }

 private:
  ThreadInfo& thread(ThreadId id);

  std::map<ThreadId, ThreadInfo> threads_;
  Ending ending_;
  bool fatal_signal_ = false;
  bool outside_ = false;  // of the window: nothing since the gap before or behind it
};

}  // namespace svd
