// SPDX-License-Identifier: Apache-2.0
//
// What file descriptors put in order, said with semaphores:
//
//   pipe, eventfd, socketpair   a write posts, a read that got something waits
//   epoll                       a change of the set posts, a wait that got something waits
//   a number                    close posts, the call that gives the number out again waits
//
// Known unsoundness: both ends of a pipe are one, a read is taken to be after all writes that came
// before it. Not known: sockets that were connected, descriptors that came from another process.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "svd/trace/event.h"

namespace svd {

class Descriptors {
 public:
  // The operations that the event amounts to.
  std::vector<Sync> operations(const Event& event);

 private:
  struct Call {
    SyscallEnter call{};
    std::vector<std::int32_t> made{};  // that the kernel has written into an array
  };

  void enter(const SyscallEnter& call, std::vector<Sync>& found);
  void exit(const Call& call, std::int64_t result, std::vector<Sync>& found);
  void made(std::int32_t descriptor, std::uint64_t channel, std::vector<Sync>& found);

  std::unordered_map<ThreadId, Call> calls_;
  std::unordered_map<std::int32_t, std::uint64_t> channels_;  // of descriptors that have one
  std::uint64_t next_channel_ = 1;
};

}  // namespace svd
