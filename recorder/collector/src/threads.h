// SPDX-License-Identifier: Apache-2.0
//
// The threads of one recording. The wire calls them by Valgrind's numbers, which are used again;
// the trace numbers every life from 1 on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "call_stack.h"
#include "svd/trace/types.h"
#include "svd/wire/ring.h"

namespace svd {

struct CodeBlock;

// A call into the C library, as its mailbox told it.
struct LibraryCall {
  SvdWireCall call = SVD_CALL_NONE;
  std::uint64_t object = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  std::uint64_t caller = 0;
  std::uint64_t stack_pointer = 0;  // of an ENTRY; 0: told by the preload library
  bool nested = false;              // of an allocator in an allocator
};

// An operator of C++ that allocates or releases: the outermost one, by where it returns to.
struct Operator {
  SvdWireCall call = SVD_CALL_NONE;
  CallStack::Entry frame{};
};

struct ThreadState {
  ThreadId id{};
  ThreadId parent{};
  bool started = false;
  std::uint64_t self = 0;  // pthread_t
  std::array<std::uint64_t, SVD_WIRE_MAILBOX_WORDS> mailbox{};
  CallStack stack;
  std::vector<LibraryCall> open;  // begun, not ended; innermost last
  LibraryCall told;               // the last one that was told whole
  Operator cxx;                   // may have returned since
  std::uint64_t syscall_number = 0;
  std::array<std::uint64_t, 6> syscall_arguments{};
  bool in_syscall = false;
  // An execution that was left in its middle, and the slot of the wire at which it goes on.
  const CodeBlock* paused = nullptr;
  std::uint16_t paused_slot = 0;
};

class Threads {
 public:
  // A new life of Valgrind's thread `number`.
  ThreadState& create(std::uint32_t number, ThreadId parent);
  // Number 0, "no thread", is the one that ran last.
  ThreadState& at(std::uint32_t number);
  ThreadState& current() { return at(0); }
  void run(std::uint32_t number) { current_ = number; }
  // `self` is its pthread_t.
  void know(ThreadState& thread, std::uint64_t self);
  // The thread that pthread_t `self` names now; 0: none.
  ThreadId by_self(std::uint64_t self) const;
  std::uint32_t count() const { return next_ - 1; }
  const std::vector<std::unique_ptr<ThreadState>>& all() const { return threads_; }

 private:
  std::vector<std::unique_ptr<ThreadState>> threads_;  // by Valgrind's number
  std::unordered_map<std::uint64_t, ThreadId> by_self_;
  std::uint32_t current_ = 1;
  std::uint32_t next_ = 1;
};

}  // namespace svd
