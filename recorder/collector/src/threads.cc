// SPDX-License-Identifier: Apache-2.0

#include "threads.h"

namespace svd {

ThreadState& Threads::create(std::uint32_t number, ThreadId parent) {
  if (number >= threads_.size()) threads_.resize(number + 1);
  threads_[number] = std::make_unique<ThreadState>();
  ThreadState& thread = *threads_[number];
  thread.id = ThreadId(next_++);
  thread.parent = parent == ThreadId() ? thread.id : parent;
  return thread;
}

ThreadState& Threads::at(std::uint32_t number) {
  if (number == 0) number = current_;
  // A process that was recorded from its fork on begins with the thread that forked.
  if (number >= threads_.size() || !threads_[number]) return create(number, ThreadId());
  return *threads_[number];
}

void Threads::know(ThreadState& thread, std::uint64_t self) {
  if (self == 0) return;
  thread.self = self;
  by_self_[self] = thread.id;
}

ThreadId Threads::by_self(std::uint64_t self) const {
  auto found = by_self_.find(self);
  return found == by_self_.end() ? ThreadId() : found->second;
}

}  // namespace svd
