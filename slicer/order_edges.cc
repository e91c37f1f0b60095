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

// Of a write, the writes of the slice after it; of a read in the slice, the writes after it, which
// could have come before.
void BackwardWalk::tell_races(RaceEdge::Kind kind, Place me) {
  for (const auto& [address, size, race] : raced_) {
    Instance mine = instance(me), other = instance(race.other);
    note_beside(kind == RaceEdge::Kind::kWriteAfterWrite ? mine.seq : other.seq);
    add_race(kind, mine, other, address, size, static_cast<float>(race.distance));
  }
  raced_.clear();
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

void BackwardWalk::set_triple(MemoryWord& word, Addr at, unsigned length, TripleId triple) {
  auto owner = [this](TripleId id) { return open_triples_[id].after.mark.thread(); };
  if (triple != 0) {
    open_triples_.hold(triple, length);
    triple_pages_.add(owner(triple), at, length);
  }
  if (word.triple != 0) {
    triple_pages_.remove(owner(word.triple), at, length);
    open_triples_.release(word.triple, length);
  }
  word.triple = triple;
}

// False: no access of the step is the one before that a triple looks for.
bool BackwardWalk::may_close(const Exec& exec, const WalkStep& step,
                             const ThreadState& state) const {
  if (exec.addresses == nullptr) return false;
  const Part& part = exec.shape->part;
  std::uint16_t end = std::min(step.end_slot, part.end_slot);
  for (std::uint16_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
    const Slot& slot = exec.shape->block->slots[s];
    Addr address(exec.addresses[s - part.first_slot]);
    if (slot.is_range() || triple_pages_.any(state.number, address, slot.size)) return true;
  }
  return false;
}

void BackwardWalk::close_triples(const Now& now) {
  for (const Touch& touch : touched_) {
    if (touch.word != nullptr && !closes(touch.word->triple, now.me)) continue;
    memory_.visit(touch.address, touch.size, [&](Addr at, unsigned length, const MemoryWord& part) {
      if (closes(part.triple, now.me)) extend(closed_, at, length, part.triple);
    });
    for (const auto& [at, bytes, id] : closed_) {
      note_beside(now.me.mark.seq());
      const OpenTriple& open = open_triples_[id];
      auto distance = static_cast<float>(open.distance);
      std::uint64_t own = now.own() - open.own;
      float key = 0.3F * distance + 0.6F * std::log2(static_cast<float>(own) + 1) - kEdgeBonus;
      triples_.add(static_cast<std::uint64_t>(now.me.id.value) << 32 | open.remote.id.value,
                   open.after.id.value,
                   {instance(now.me), touch.slot->write, instance(open.remote),
                    instance(open.after), at, bytes, distance, own, key, 1, false},
                   key);
      memory_.update(at, bytes, [this](Addr byte, unsigned length, MemoryWord& part) {
        set_triple(part, byte, length, 0);
      });
    }
    closed_.clear();
  }
}

Slice BackwardWalk::take() {
  Slice slice;
  for (const Counted& counted : counted_) {
    if (counted.item != 0) items_[counted.item - 1].instances = counted.instances;
    slice.instances += counted.instances;
  }
  slice.items = std::move(items_);
  slice.remote_reads = remote_reads_.take();
  slice.triples = triples_.take();
  slice.races = races_.take();
  slice.channels = std::move(channels_);
  slice.members = std::move(members_);
  slice.beside = std::move(beside_);
  return slice;
}

void put_in_order(Slice& slice, const ThreadOrder& order) {
  for (RaceEdge& edge : slice.races)
    edge.ordered =
        order.before(edge.first.thread, edge.first.seq, edge.second.thread, edge.second.seq);
  for (Triple& triple : slice.triples) {
    const Instance &before = triple.before, &remote = triple.remote, &after = triple.after;
    triple.ordered = order.before(before.thread, before.seq, remote.thread, remote.seq) &&
                     order.before(remote.thread, remote.seq, after.thread, after.seq);
  }
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
