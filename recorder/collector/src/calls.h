// SPDX-License-Identifier: Apache-2.0
//
// What the doorbells of the mailbox mean: calls into the C library become events of the trace.
//
// A call that waits is a begin and an end; one that lets others go on is whole, told before it is
// done, and an end with its result follows only if it failed (ring.h says which is which).
#pragma once

#include <cstdint>

#include "call_stack.h"
#include "threads.h"
#include "trace_feed.h"

namespace svd {

class Calls {
 public:
  Calls(TraceFeed& feed, Threads& threads) : feed_(feed), threads_(threads), stacks_(feed) {}

  // The store to word 0 of the thread's mailbox; the other words are there.
  void ring(ThreadState& thread, std::uint64_t doorbell);

  // Whether the thread is inside a call whose system calls are the C library's own affair.
  static bool inside_library(const ThreadState& thread);

 private:
  void whole(ThreadState& thread, const LibraryCall& call, std::int64_t result);
  void begin(ThreadState& thread, const LibraryCall& call);
  void end(ThreadState& thread, SvdWireCall call, std::int64_t result);
  void enter(ThreadState& thread, LibraryCall call);
  static void enter_operator(ThreadState& thread, SvdWireCall call);
  void leave(ThreadState& thread, SvdWireCall call, std::uint64_t result,
             std::uint64_t stack_pointer);
  void open(ThreadState& thread, const LibraryCall& call);

  void tell(ThreadState& thread, const LibraryCall& call, Phase phase, std::int64_t result);
  void allocate(ThreadState& thread, AllocFn function, std::uint64_t address, std::uint64_t size,
                std::uint64_t alignment);
  void release(ThreadState& thread, AllocFn function, std::uint64_t address);
  void end_realloc(ThreadState& thread, const LibraryCall& begun, std::uint64_t address);

  TraceFeed& feed_;
  Threads& threads_;
  StackTable stacks_;
  std::uint32_t open_reallocs_ = 0;
};

}  // namespace svd
