// SPDX-License-Identifier: Apache-2.0
//
// The other end of the Valgrind tool: makes the session that recorded processes look for, drains
// their rings (one thread each), and writes one trace for each process image.
//
// Whatever fails here, the recorded program goes on: it is told to stop recording, or finds that
// the session's lock is free. A trace that was begun always ends in a readable file.
//
// All members are called by one thread; its signal mask is what the draining threads get.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "svd/trace/event.h"
#include "svd/trace/result.h"

namespace svd {

struct CollectorOptions {
  std::string file;                    // for the first trace; %p is the process. "": from the name
  std::string program;                 // what the first process executes
  std::vector<std::string> arguments;  // its argv
  std::string engine_options;
  bool environment = false;       // record it
  std::uint64_t keep_newest = 0;  // bytes of the run in one trace; 0: all
  std::uint64_t max_size = 0;     // of one trace; 0: no limit
  std::uint64_t min_free = 0;     // stop when the disk has less left
};

// One trace.
struct RecordedRun {
  std::uint32_t pid = 0;
  std::string program;
  std::string file;     // "": none could be made
  std::string problem;  // why the file holds less than the run, or is missing; "" when it does not
  EndKind end = EndKind::kUnknown;
  std::int32_t value = 0;
  std::uint32_t fatal_thread = 0;  // 0: none
  std::uint32_t threads = 0;
  std::uint64_t instructions = 0;
  std::uint64_t dropped = 0;  // instructions, that were not to be kept
  std::uint64_t accesses = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

class Collector {
 public:
  static Result<std::unique_ptr<Collector>> create(CollectorOptions options);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // For --session of the tool, and for its log files.
  const std::string& directory() const;
  // Readable when look() has something to do.
  int descriptor() const;
  // Takes over the rings that have come.
  void look();
  // A child of the caller has ended, with this wait status: what a trace says that its process was
  // killed before it could tell.
  void process_ended(std::uint32_t pid, int status);
  // Whether something is still being recorded, or is about to be.
  bool busy() const;
  // Waits for all recordings; in the order in which they began.
  std::vector<RecordedRun> finish();

 private:
  class Impl;
  explicit Collector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Removes what recorders that were killed have left behind.
void remove_stale_sessions();
// Where sessions are made: memory, or the disk where there is none to be had.
std::string session_place();

}  // namespace svd
