// SPDX-License-Identifier: Apache-2.0

#include "detectors/relay.h"

#include <utility>

namespace svd {

Relay::~Relay() {
  put(End{});
  hand_over();
  thread_.join();
}

void Relay::hand_over() {
  handed_over_.store(said_, std::memory_order_release);
  handed_over_.notify_one();
}

void Relay::begin_batch() {
  hand_over();
  std::uint64_t told = told_.load(std::memory_order_acquire);
  while (said_ + kBatch - told > kRing) {
    told_.wait(told);
    told = told_.load(std::memory_order_acquire);
  }
}

void Relay::finish() {
  hand_over();
  std::uint64_t told = told_.load(std::memory_order_acquire);
  while (told != said_) {
    told_.wait(told);
    told = told_.load(std::memory_order_acquire);
  }
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Relay::run() {
  for (std::uint64_t next = 0;;) {
    std::uint64_t end = handed_over_.load(std::memory_order_acquire);
    if (end == next) {
      handed_over_.wait(end);
      continue;
    }
    for (; next != end; ++next) {
      const Word& word = ring_[next % kRing];
      if (std::holds_alternative<End>(word)) return;
      // What comes after a failure is not listened to.
      if (failure_ != nullptr) continue;
      try {
        tell(word);
      } catch (...) {
        failure_ = std::current_exception();
      }
    }
    told_.store(next, std::memory_order_release);
    told_.notify_one();
  }
}

void Relay::tell(const Word& word) {
  for (Detector* detector : detectors_) {
    if (const auto* touch = std::get_if<Touch>(&word)) {
      detector->access(*touch);
    } else if (const auto* executed = std::get_if<Executed>(&word)) {
      detector->executed(executed->exec, executed->thread, executed->first);
    } else if (const auto* happened = std::get_if<Happened>(&word)) {
      detector->happened(*happened->event, happened->thread);
    } else if (const auto* edge = std::get_if<Edge>(&word)) {
      if (edge->acquired) {
        detector->acquire(edge->thread, edge->channel, edge->kind, edge->now);
      } else {
        detector->release(edge->thread, edge->channel, edge->kind, edge->now);
      }
    } else if (const auto* fresh = std::get_if<Fresh>(&word)) {
      detector->fresh(fresh->address, fresh->size);
    } else if (const auto* block = std::get_if<AtomicBlock>(&word)) {
      detector->atomic_block(block->thread, block->begins, block->now);
    }
  }
}

}  // namespace svd
