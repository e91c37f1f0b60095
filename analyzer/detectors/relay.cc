// SPDX-License-Identifier: Apache-2.0

#include "detectors/relay.h"

#include <algorithm>
#include <utility>

#include "dpdg/bring_near.h"

namespace svd {
namespace {

constexpr std::uint32_t kAhead = 48;  // notes: less than a batch, and longer than memory takes

template <class T>
void set(std::atomic<T>& what, T value) {
  what.store(value, std::memory_order_release);
  what.notify_all();
}

// Waits until it holds; gives what it is then.
template <class T, class F>
T wait(const std::atomic<T>& what, F&& holds) {
  T now = what.load(std::memory_order_acquire);
  for (; !holds(now); now = what.load(std::memory_order_acquire)) what.wait(now);
  return now;
}

}  // namespace

Relay::Relay(const std::vector<Detector*>& detectors) {
  for (Detector* detector : detectors) listeners_.emplace_back(*detector);
  try {
    for (Listener& listener : listeners_)
      listener.thread = std::thread([this, &listener] { run(listener); });
  } catch (...) {
    stop();
    throw;
  }
}

Relay::~Relay() {
  abandon();
  stop();
}

void Relay::stop() {
  stretch(begun_).chunk = nullptr;
  set(begun_, begun_ + 1);
  for (Listener& listener : listeners_)
    if (listener.thread.joinable()) listener.thread.join();
}

void Relay::begin(const Chunk& chunk, Moment first) {
  wait(finished_, [this](std::uint32_t finished) { return begun_ - finished < kStretches; });
  saying_ = &stretch(begun_);
  said_.steps = 0;
  said_first_ = first;
  said_thread_ = {};
  saying_->chunk = &chunk;
  saying_->first = first;
  saying_->first_note = said_.notes;
  saying_->handed_over = said_;
  set(begun_, begun_ + 1);
}

void Relay::hand_over() { set(saying_->handed_over, said_); }

void Relay::begin_batch() {
  hand_over();
  for (const Listener& listener : listeners_)
    wait(listener.told,
         [this](std::uint32_t told) { return said_.notes + kBatch - told <= kRing; });
}

void Relay::end(std::uint32_t steps) {
  said_.steps = steps;
  hand_over();
}

std::exception_ptr Relay::finish() {
  std::uint32_t number = finished_;
  std::exception_ptr failure;
  for (Listener& listener : listeners_) {
    wait(listener.followed, [number](std::uint32_t followed) { return followed != number; });
    if (auto other = std::exchange(listener.failures[number % kStretches], nullptr))
      failure = other;
  }
  set(finished_, number + 1);
  return failure;
}

void Relay::abandon() {
  if (saying_ == nullptr) return;
  end(kAbandoned);
  for (const Listener& listener : listeners_)
    wait(listener.followed, [this](std::uint32_t followed) { return followed == begun_; });
}

// Of a chunk by a listener, behind who tells of it.
class Relay::Walk {
 public:
  Walk(const Relay& relay, const Stretch& stretch, Listener& listener)
      : relay_(relay),
        stretch_(stretch),
        listener_(listener),
        next_(stretch.first_note),
        ahead_(next_) {
    said_.notes = next_;
  }

  void exec(const Exec& exec, Moment first) {
    if (hear()) listener_.detector.executed(exec, thread_, first);
  }
  void event(const Event& event, Moment) {
    if (hear()) listener_.detector.happened(event, thread_);
  }
  // What comes after the last of them. After a failure nothing is listened to.
  void hear_rest() {
    step_ = kAll - 1;
    hear();
    set(listener_.told, next_);
  }

 private:
  // All up to the next execution or event; false where there is nothing to be told any more.
  bool hear() {
    while (said_.steps != kAbandoned) {
      while (next_ != said_.notes && relay_.notes_[next_ % kRing].at <= step_) {
        look_ahead();
        if (!listener_.failed) tell(relay_.notes_[next_ % kRing]);
        if (++next_ % kBatch == 0) set(listener_.told, next_);
      }
      if (step_ < said_.steps) {
        ++step_;
        return true;
      }
      said_ = wait(stretch_.handed_over, [this](Said said) { return said != said_; });
    }
    return false;
  }

  void look_ahead() {
    std::uint32_t end = next_ + std::min(said_.notes - next_, kAhead);
    for (; ahead_ != end; ++ahead_) {
      if (const Note& note = relay_.notes_[ahead_ % kRing]; note.size != 0)
        listener_.detector.soon(note.address, note.shared);
      else
        bring_near(&relay_.words_[ahead_ % kRing]);
    }
  }

  void tell(const Note& note) {
    Detector& detector = listener_.detector;
    if (note.size != 0) return detector.access(touch(note));
    const Word& word = relay_.words_[next_ % kRing];
    if (const auto* turn = std::get_if<Turn>(&word)) {
      thread_ = turn->thread;
    } else if (const auto* touch = std::get_if<Touch>(&word)) {
      detector.access(*touch);
    } else if (const auto* edge = std::get_if<OrderEdge>(&word)) {
      auto tell = edge->acquired ? &OrderListener::acquire : &OrderListener::release;
      (detector.*tell)(edge->thread, edge->channel, edge->kind, edge->now);
    } else if (const auto* fresh = std::get_if<Fresh>(&word)) {
      detector.fresh(fresh->address, fresh->size);
    } else if (const auto* block = std::get_if<AtomicBlock>(&word)) {
      detector.atomic_block(block->thread, block->begins, block->now);
    }
  }
  Touch touch(const Note& note) const {
    return {stretch_.first + note.moment,
            note.address,
            note.size,
            note.site,
            note.thread,
            note.locks,
            note.kind,
            note.atomic,
            note.shared};
  }

  const Relay& relay_;
  const Stretch& stretch_;
  Listener& listener_;
  ThreadIndex thread_{};
  Said said_;
  std::uint32_t next_;   // note
  std::uint32_t ahead_;  // the next one that the detector does not know to come
  std::uint32_t step_ = 0;
};

void Relay::run(Listener& listener) {
  for (std::uint32_t number = 0;; set(listener.followed, ++number)) {
    begun_.wait(number, std::memory_order_acquire);
    const Stretch& next = stretch(number);
    if (next.chunk == nullptr) return;
    Walk walk(*this, next, listener);
    try {
      if (!listener.failed && listener.detector.follows_execution())
        next.chunk->walk(WithMoments(walk, *next.chunk, next.first));
      walk.hear_rest();
    } catch (...) {
      listener.failed = true;
      listener.failures[number % kStretches] = std::current_exception();
      walk.hear_rest();
    }
  }
}

}  // namespace svd
