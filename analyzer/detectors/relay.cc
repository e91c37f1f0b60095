// SPDX-License-Identifier: Apache-2.0

#include "detectors/relay.h"

#include <limits>
#include <utility>

namespace svd {
namespace {

constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();  // steps of a chunk
constexpr std::uint32_t kAbandoned = kAll;                                 // notes
constexpr std::uint32_t kAhead = 48;  // notes: less than a batch, and longer than memory takes

template <class T>
void set(std::atomic<T>& what, T value) {
  what.store(value, std::memory_order_release);
  what.notify_one();
}

}  // namespace

Relay::~Relay() {
  if (finished_ != begun_) abandon();
  chunk_ = nullptr;
  set(begun_, begun_ + 1);
  thread_.join();
}

void Relay::begin(const Chunk& chunk, Moment first) {
  chunk_ = &chunk;
  first_ = first;
  said_ = {};
  said_thread_ = {};
  handed_over_ = said_;
  told_ = 0;
  set(begun_, begun_ + 1);
}

void Relay::hand_over() { set(handed_over_, said_); }

void Relay::begin_batch() {
  hand_over();
  std::uint32_t told = told_.load(std::memory_order_acquire);
  while (said_.notes + kBatch - told > kRing) {
    told_.wait(told);
    told = told_.load(std::memory_order_acquire);
  }
}

std::exception_ptr Relay::finish() {
  said_.steps = kAll;
  return wait();
}

void Relay::abandon() {
  said_.notes = kAbandoned;
  wait();
}

std::exception_ptr Relay::wait() {
  hand_over();
  std::uint32_t finished = finished_.load(std::memory_order_acquire);
  while (finished != begun_) {
    finished_.wait(finished);
    finished = finished_.load(std::memory_order_acquire);
  }
  return std::exchange(failure_, nullptr);
}

// Walks a chunk behind who tells of it.
class Relay::Listener {
 public:
  explicit Listener(Relay& relay) : relay_(relay) {}

  void exec(const Exec& exec, Moment first) {
    if (hear()) relay_.detector_.executed(exec, thread_, first);
  }
  void event(const Event& event, Moment) {
    if (hear()) relay_.detector_.happened(event, thread_);
  }
  // What comes after the last of them. After a failure nothing is listened to.
  void hear_rest() {
    step_ = kAll - 1;
    hear();
  }

 private:
  // All up to the next execution or event; false where there is nothing to be told any more.
  bool hear() {
    while (said_.notes != kAbandoned) {
      for (; next_ != said_.notes && relay_.notes_[next_ % kRing].at <= step_; ++next_) {
        look_ahead();
        if (relay_.failure_ == nullptr) tell(relay_.notes_[next_ % kRing]);
      }
      if (step_ < said_.steps) {
        ++step_;
        return true;
      }
      set(relay_.told_, next_);
      relay_.handed_over_.wait(said_);
      said_ = relay_.handed_over_.load(std::memory_order_acquire);
    }
    return false;
  }

  void look_ahead() {
    std::uint32_t end = said_.notes - next_ < kAhead ? said_.notes : next_ + kAhead;
    for (; ahead_ < end; ++ahead_)
      if (const Note& note = relay_.notes_[ahead_ % kRing]; note.size != 0)
        relay_.detector_.soon(note.address, note.shared);
  }

  void tell(const Note& note) {
    Detector& detector = relay_.detector_;
    if (note.size != 0) return detector.access(touch(note));
    const Word& word = relay_.words_[next_ % kRing];
    if (const auto* turn = std::get_if<Turn>(&word)) {
      thread_ = turn->thread;
    } else if (const auto* touch = std::get_if<Touch>(&word)) {
      detector.access(*touch);
    } else if (const auto* edge = std::get_if<Edge>(&word)) {
      auto tell = edge->acquired ? &OrderListener::acquire : &OrderListener::release;
      (detector.*tell)(edge->thread, edge->channel, edge->kind, edge->now);
    } else if (const auto* fresh = std::get_if<Fresh>(&word)) {
      detector.fresh(fresh->address, fresh->size);
    } else if (const auto* block = std::get_if<AtomicBlock>(&word)) {
      detector.atomic_block(block->thread, block->begins, block->now);
    }
  }
  Touch touch(const Note& note) const {
    return {relay_.first_ + note.moment,
            note.address,
            note.size,
            note.site,
            note.thread,
            note.locks,
            note.kind,
            note.atomic,
            note.shared};
  }

  Relay& relay_;
  ThreadIndex thread_{};
  Said said_;
  std::uint32_t next_ = 0;   // note
  std::uint32_t ahead_ = 0;  // the next one that the detector does not know to come
  std::uint32_t step_ = 0;
};

void Relay::run() {
  for (std::uint32_t chunks = 0;; set(finished_, chunks)) {
    begun_.wait(chunks, std::memory_order_acquire);
    ++chunks;
    if (chunk_ == nullptr) return;
    Listener listener(*this);
    try {
      chunk_->walk(WithMoments(listener, *chunk_, first_));
      listener.hear_rest();
    } catch (...) {
      failure_ = std::current_exception();
      listener.hear_rest();
    }
  }
}

}  // namespace svd
