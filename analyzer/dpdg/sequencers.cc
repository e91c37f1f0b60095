// SPDX-License-Identifier: Apache-2.0
#include "dpdg/sequencers.h"

#include <algorithm>

namespace svd {
namespace {

bool takes_effect(const Sync& sync) {
  if (sync.phase != Phase::kBegin) return true;
  return sync.op == SyncOp::kCondWait || sync.op == SyncOp::kCondTimedwait ||
         sync.op == SyncOp::kBarrierWait;
}

bool synchronises(const Event& event) {
  if (const auto* sync = std::get_if<Sync>(&event.body)) return takes_effect(*sync);
  if (const auto* join = std::get_if<ThreadJoin>(&event.body)) return join->phase != Phase::kBegin;
  return std::holds_alternative<ThreadCreate>(event.body) ||
         std::holds_alternative<ThreadStart>(event.body) ||
         std::holds_alternative<ThreadExit>(event.body);
}

}  // namespace

Sequencers Sequencers::of(const TraceReader& trace, Diagnostics& diagnostics) {
  struct Walk {
    std::unordered_map<ThreadId, std::vector<Point>>& points;
    std::uint64_t time = 0;
    void exec(const Exec& exec) {
      const Part& part = exec.shape->part;
      for (std::uint16_t s = part.first_slot; s < part.end_slot; ++s) {
        const Slot& slot = exec.block().slots[s];
        if (!slot.atomic) continue;
        Seq seq = exec.seq + static_cast<std::uint64_t>(slot.instruction - part.first);
        std::uint64_t place = 2 * seq.value + 1;
        auto& mine = points[exec.thread];
        if (mine.empty() || mine.back().place != place) mine.push_back({place, ++time});
      }
    }
    void event(const Event& event) {
      if (synchronises(event)) points[event.thread].push_back({2 * event.seq.value, ++time});
    }
  };
  Sequencers sequencers;
  Walk walk{sequencers.points_};
  trace.scan(TraceReader::Order::kForward, {.addresses = false, .values = false}, diagnostics,
             [&walk](const Chunk& chunk) {
               chunk.walk(walk);
               return true;
             });
  return sequencers;
}

bool Sequencers::ordered(ThreadId first, Seq a, ThreadId second, Seq b) const {
  auto mine = points_.find(first);
  auto other = points_.find(second);
  if (mine == points_.end() || other == points_.end()) return false;
  auto next = std::lower_bound(mine->second.begin(), mine->second.end(), 2 * a.value + 1,
                               [](const Point& p, std::uint64_t place) { return p.place < place; });
  auto last = std::upper_bound(other->second.begin(), other->second.end(), 2 * b.value + 1,
                               [](std::uint64_t place, const Point& p) { return place < p.place; });
  return next != mine->second.end() && last != other->second.begin() &&
         next->time < std::prev(last)->time;
}

}  // namespace svd
