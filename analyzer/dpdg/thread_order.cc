// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks that move only at the events named in the header. A clock's entry for another
// thread is the seq up to which that thread's past is known; a thread's own entry is the present.
// Cost: a copy of a clock for each event that moves one.
#include "dpdg/thread_order.h"

#include <algorithm>
#include <functional>

namespace svd {
namespace {

using Clock = std::unordered_map<std::uint32_t, std::uint64_t>;

void merge(Clock& into, const Clock& from) {
  for (auto [thread, seq] : from) {
    std::uint64_t& present = into[thread];
    present = std::max(present, seq);
  }
}

struct Walk {
  std::unordered_map<std::uint32_t, Clock> clocks;  // of each thread now
  std::unordered_map<std::uint32_t, Clock> handed;  // to a thread that is created
  std::unordered_map<std::uint32_t, Clock> ended;
  std::unordered_map<std::uint64_t, Clock> messages;  // left at a condition or barrier
  std::function<void(std::uint32_t, Seq, const Clock&)> moved;

  Clock now(const Event& event) {
    Clock clock = clocks[event.thread.value];
    clock[event.thread.value] = event.seq.value;
    return clock;
  }
  void receive(const Event& event, const Clock& from) {
    Clock& clock = clocks[event.thread.value];
    merge(clock, from);
    moved(event.thread.value, event.seq, clock);
  }

  void event(const Event& event) {
    if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      handed[create->child.value] = now(event);
    } else if (std::holds_alternative<ThreadStart>(event.body)) {
      auto from = handed.find(event.thread.value);
      if (from != handed.end()) receive(event, from->second);
    } else if (std::holds_alternative<ThreadExit>(event.body)) {
      ended[event.thread.value] = now(event);
    } else if (const auto* join = std::get_if<ThreadJoin>(&event.body)) {
      auto from = ended.find(join->child.value);
      if (join->phase != Phase::kBegin && join->result == 0 && from != ended.end())
        receive(event, from->second);
    } else if (const auto* sync = std::get_if<Sync>(&event.body)) {
      this->sync(event, *sync);
    }
  }

  void sync(const Event& event, const Sync& sync) {
    switch (sync.op) {
      case SyncOp::kCondSignal:
      case SyncOp::kCondBroadcast:
        if (sync.phase != Phase::kEnd) merge(messages[sync.object.value], now(event));
        break;
      case SyncOp::kCondWait:
      case SyncOp::kCondTimedwait:
        if (sync.phase != Phase::kBegin && sync.result == 0)
          receive(event, messages[sync.object.value]);
        break;
      case SyncOp::kBarrierWait:
        if (sync.phase != Phase::kEnd) merge(messages[sync.object.value], now(event));
        if (sync.phase != Phase::kBegin) receive(event, messages[sync.object.value]);
        break;
      default:
        break;
    }
  }
};

}  // namespace

bool ThreadOrder::orders(const Event& event) {
  if (const auto* sync = std::get_if<Sync>(&event.body))
    return sync->op == SyncOp::kCondSignal || sync->op == SyncOp::kCondBroadcast ||
           sync->op == SyncOp::kCondWait || sync->op == SyncOp::kCondTimedwait ||
           sync->op == SyncOp::kBarrierWait;
  return std::holds_alternative<ThreadCreate>(event.body) ||
         std::holds_alternative<ThreadStart>(event.body) ||
         std::holds_alternative<ThreadExit>(event.body) ||
         std::holds_alternative<ThreadJoin>(event.body);
}

ThreadOrder ThreadOrder::of(const TraceReader& trace, Diagnostics& diagnostics) {
  struct Collect {
    std::vector<Event> events;
    void exec(const Exec&) {}
    void event(const Event& event) {
      if (orders(event)) events.push_back(event);
    }
  } collect;
  trace.scan(TraceReader::Order::kBackward, {.addresses = false, .values = false, .events = true},
             diagnostics, [&collect](const Chunk& chunk) {
               chunk.walk_back(collect);
               return true;
             });
  return of(collect.events);
}

ThreadOrder ThreadOrder::of(std::span<const Event> backward) {
  ThreadOrder order;
  Walk walk;
  walk.moved = [&order](std::uint32_t thread, Seq seq, const Clock& clock) {
    order.threads_[thread].push_back({seq, clock});
  };
  for (std::size_t i = backward.size(); i-- > 0;) walk.event(backward[i]);
  return order;
}

bool ThreadOrder::before(ThreadId first, Seq a, ThreadId second, Seq b) const {
  if (first == second) return a < b;
  auto found = threads_.find(second.value);
  if (found == threads_.end()) return false;
  const auto& points = found->second;
  auto next = std::upper_bound(points.begin(), points.end(), b,
                               [](Seq seq, const Checkpoint& point) { return seq < point.from; });
  if (next == points.begin()) return false;
  const Clock& clock = std::prev(next)->clock;
  auto known = clock.find(first.value);
  return known != clock.end() && a.value < known->second;
}

}  // namespace svd
