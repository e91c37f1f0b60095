// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks that move only at the events named in the header. A clock's entry for another
// thread is the seq up to which that thread's past is known; a thread's own entry is the present.
// Cost: a copy of a clock for each event that moves one.
#include "dpdg/thread_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace svd {
namespace {

using Clock = std::unordered_map<std::uint32_t, std::uint64_t>;

// Whether that changes something.
bool merge(Clock& into, const Clock& from) {
  bool moved = false;
  for (auto [thread, seq] : from) {
    std::uint64_t& present = into[thread];
    moved = moved || present < seq;
    present = std::max(present, seq);
  }
  return moved;
}

struct Walk {
  bool semaphores;
  std::unordered_map<std::uint32_t, Clock> clocks{};  // of each thread now
  std::unordered_map<std::uint32_t, Clock> handed{};  // to a thread that is created
  std::unordered_map<std::uint32_t, Clock> ended{};
  std::unordered_map<std::uint64_t, Clock> messages{};  // left at a condition, barrier or semaphore
  // How often a semaphore was taken and not given back by the thread.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> taken{};
  std::function<void(std::uint32_t, Seq, const Clock&)> moved{};

  Clock now(const Event& event) {
    Clock clock = clocks[event.thread.value];
    clock[event.thread.value] = event.seq.value;
    return clock;
  }
  void receive(const Event& event, const Clock& from) {
    Clock& clock = clocks[event.thread.value];
    if (merge(clock, from)) moved(event.thread.value, event.seq, clock);
  }

  // Another one can come to lie there.
  void forget(Addr semaphore) {
    messages.erase(semaphore.value);
    taken.erase(taken.lower_bound({semaphore.value, 0}),
                taken.lower_bound({semaphore.value + 1, 0}));
  }

  void post(const Event& event, Addr semaphore) {
    std::uint64_t& own = taken[{semaphore.value, event.thread.value}];
    if (own == 0)
      merge(messages[semaphore.value], now(event));
    else
      --own;
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
      case SyncOp::kSemInit:
      case SyncOp::kSemDestroy:
        forget(sync.object);
        break;
      case SyncOp::kSemPost:
        if (semaphores && sync.phase != Phase::kEnd) post(event, sync.object);
        break;
      case SyncOp::kSemWait:
      case SyncOp::kSemTrywait:
      case SyncOp::kSemTimedwait:
        if (!semaphores || sync.phase == Phase::kBegin || sync.result != 0) break;
        ++taken[{sync.object.value, event.thread.value}];
        receive(event, messages[sync.object.value]);
        break;
      default:
        break;
    }
  }
};

}  // namespace

bool ThreadOrder::matters(const Event& event) {
  const auto* sync = std::get_if<Sync>(&event.body);
  if (sync == nullptr)
    return std::holds_alternative<ThreadCreate>(event.body) ||
           std::holds_alternative<ThreadStart>(event.body) ||
           std::holds_alternative<ThreadExit>(event.body) ||
           std::holds_alternative<ThreadJoin>(event.body);
  switch (sync->op) {
    case SyncOp::kCondSignal:
    case SyncOp::kCondBroadcast:
    case SyncOp::kCondWait:
    case SyncOp::kCondTimedwait:
    case SyncOp::kBarrierWait:
    case SyncOp::kSemInit:
    case SyncOp::kSemDestroy:
    case SyncOp::kSemPost:
    case SyncOp::kSemWait:
    case SyncOp::kSemTrywait:
    case SyncOp::kSemTimedwait:
      return true;
    default:
      return false;
  }
}

ThreadOrder ThreadOrder::of(std::span<const Event> events, bool semaphores) {
  std::map<std::uint32_t, std::vector<std::pair<Seq, Clock>>> moves;
  std::set<std::uint32_t> known;
  Walk walk{.semaphores = semaphores};
  walk.moved = [&](std::uint32_t thread, Seq seq, const Clock& clock) {
    moves[thread].emplace_back(seq, clock);
    known.insert(thread);
    for (auto [other, until] : clock) known.insert(other);
  };
  for (const Event& event : events) walk.event(event);
  ThreadOrder order;
  for (std::uint32_t thread : known) order.threads_.emplace_back(thread);
  order.points_.resize(known.size());
  for (const auto& [thread, all] : moves) {
    std::vector<Checkpoint>& points = order.points_[order.number_of(ThreadId(thread))];
    for (const auto& [seq, clock] : all) {
      points.push_back({seq, std::vector<std::uint64_t>(known.size())});
      for (auto [other, until] : clock)
        points.back().clock[order.number_of(ThreadId(other))] = until;
    }
  }
  return order;
}

std::size_t ThreadOrder::number_of(ThreadId thread) const {
  auto place = std::lower_bound(threads_.begin(), threads_.end(), thread);
  bool known = place != threads_.end() && *place == thread;
  return known ? static_cast<std::size_t>(place - threads_.begin()) : threads_.size();
}

bool ThreadOrder::before(ThreadId first, Seq a, ThreadId second, Seq b) const {
  if (first == second) return a < b;
  std::size_t from = number_of(first), to = number_of(second);
  if (from == threads_.size() || to == threads_.size()) return false;
  const std::vector<Checkpoint>& points = points_[to];
  auto next = std::upper_bound(points.begin(), points.end(), b,
                               [](Seq seq, const Checkpoint& point) { return seq < point.from; });
  return next != points.begin() && a.value < std::prev(next)->clock[from];
}

}  // namespace svd
