// SPDX-License-Identifier: Apache-2.0
//
// Makes up the trace of a small server that crashes: `main` and workers that serve requests in time
// slices, with loops, calls, arrays, linked lists, locks, allocations and system calls. What a load
// returns is what was last stored there. At the end `main` closes the log between a worker's check
// of `log_ptr` and its use, and the worker dies of SIGSEGV.
//
// The same options give the same trace. Used by the demo, by tests that need a trace of realistic
// texture, and by benchmarks.
#pragma once

#include <cstdint>
#include <string>

#include "svd/trace/process.h"
#include "svd/trace/result.h"
#include "svd/trace/writer.h"

namespace svd::example {

struct Options {
  std::uint64_t instructions = 1'000'000;  // a few thousand more: the story is told to its end
  std::uint32_t threads = 4;               // `main` included; at least 2
  std::uint64_t seed = 1;
};

// An order-sensitive digest of what executed: the writer's side computes it of what it was given, a
// test computes it of what it reads back.
class Digest {
 public:
  void add(std::uint64_t word) { state_ = (state_ ^ word) * 0x9e3779b97f4a7c15U + (state_ >> 29); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

Process process(const Options& options);

// Writes everything but the index: finish() is the caller's. Returns the digest of, for each
// execution: the thread, the block, the steps, the address of each slot, the length of each range,
// the value of each slot that has one (slot by slot, in this order).
std::uint64_t write_trace(const Options& options, TraceWriter& writer);

// Creates, writes, finishes.
Status write_file(const Options& options, const std::string& path);

}  // namespace svd::example
