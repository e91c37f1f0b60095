// SPDX-License-Identifier: Apache-2.0
//
// What threads did to each other around a slice: adjacent writes and reads that could have come in
// the other order, and accesses between which another thread wrote. And the slice made of all that
// a walk has found.
#include <algorithm>
#include <cmath>

#include "slicer/backward_walk.h"
#include "slicer/restored_edges.h"

namespace svd {
namespace {

// Of triples and race edges over plain statements, so that they stand near what they explain; the
// best of those tried on 22 crashes.
constexpr float kEdgeBonus = 6;

}  // namespace

float race_key(const Instance& first, const Instance& second, float distance) {
  float gap = std::log2(static_cast<float>(second.seq - first.seq) + 1);
  return 0.6F * distance + 0.3F * gap - kEdgeBonus;
}

// `me` writes: it is the write before those writes of the slice that are open at these bytes.
void BackwardWalk::race_before_write(Addr address, std::uint64_t size, const Instance& me) {
  if (writes_in_slice_.empty()) return;
  bool found = false;
  writes_in_slice_.visit(address, size, [&](Addr at, unsigned length, const OpenWrite& after) {
    found = true;
    add_race(RaceEdge::Kind::kWriteAfterWrite, me, after.by, at, length, after.distance);
  });
  if (!found) return;
  note_beside(me);
  writes_in_slice_.clear(address, size);
}

// `me` reads and is in the slice: the write after it could have come before.
void BackwardWalk::race_after_read(Addr address, std::uint64_t size, const Instance& me,
                                   float distance) {
  next_write_.visit(address, size, [&](Addr at, unsigned length, const Instance& write) {
    note_beside(write);
    add_race(RaceEdge::Kind::kWriteAfterRead, me, write, at, length, distance);
  });
}

void BackwardWalk::add_race(RaceEdge::Kind kind, const Instance& first, const Instance& second,
                            Addr address, std::uint64_t size, float distance) {
  if (first.thread == second.thread) return;
  if (sequencers_ != nullptr &&
      sequencers_->ordered(first.thread, first.seq, second.thread, second.seq))
    return;
  float key = race_key(first, second, distance);
  races_.add(first.id.value, second.id.value | static_cast<std::uint64_t>(kind) << 32,
             {kind, first, second, address, size, distance, key, 1, false}, key);
}

void BackwardWalk::close_triples(Addr address, std::uint64_t size, bool write, const Instance& me,
                                 const ThreadState& state) {
  bool found = false;
  triple_at_.visit(address, size, [&](Addr at, unsigned length, std::uint32_t index) {
    const OpenTriple& open = open_triples_[index];
    if (open.after.thread != me.thread || open.remote.seq < me.seq) return;
    found = true;
    note_beside(me);
    std::uint64_t own = state.own - open.own;
    float key = 0.3F * open.distance + 0.6F * std::log2(static_cast<float>(own) + 1) - kEdgeBonus;
    Triple triple{me, write, open.remote, open.after, at, length, open.distance, own, key, 1};
    triples_.add(static_cast<std::uint64_t>(me.id.value) << 32 | open.remote.id.value,
                 open.after.id.value, triple, key);
    triple_at_.set(at, length, 0);
  });
}

Slice BackwardWalk::take() {
  Slice slice;
  slice.instances = instances_;
  slice.items = std::move(items_);
  slice.remote_reads = remote_reads_.take();
  slice.triples = triples_.take();
  slice.races = races_.take();
  slice.members = std::move(members_);
  slice.beside = std::move(beside_);
  return slice;
}

void put_in_order(Slice& slice, const ThreadOrder& order) {
  for (RaceEdge& edge : slice.races)
    edge.ordered =
        order.before(edge.first.thread, edge.first.seq, edge.second.thread, edge.second.seq);
  auto sort = [](auto& all, auto member) {
    std::stable_sort(all.begin(), all.end(),
                     [member](const auto& a, const auto& b) { return a.*member < b.*member; });
  };
  sort(slice.items, &SliceItem::distance);
  sort(slice.remote_reads, &RemoteRead::distance);
  sort(slice.triples, &Triple::key);
  sort(slice.races, &RaceEdge::key);
}

}  // namespace svd
