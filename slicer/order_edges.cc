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

// Triples that are open at one byte: those that were opened last, the earliest reads of the
// earliest writes. It bounds the work where many threads read one word.
constexpr unsigned kMostOpen = 8;

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
  bool ordered = order_.before(first.thread, first.seq, second.thread, second.seq);
  races_.add(first.id.value, second.id.value | static_cast<std::uint64_t>(kind) << 32,
             {kind, first, second, address, size, distance, key, 1, ordered});
}

void BackwardWalk::set_triples(MemoryWord& word, Addr at, unsigned length, Triples list) {
  if (word.triples == list) return;
  auto owner = [this](Triples one) { return open_triples_[one].after.mark.thread(); };
  if (list != 0) open_triples_.hold(list, length);
  for (Triples one = list; one != 0; one = open_triples_.next(one))
    triple_pages_.add(owner(one), at, length);
  for (Triples one = word.triples; one != 0; one = open_triples_.next(one))
    triple_pages_.remove(owner(one), at, length);
  if (word.triples != 0) open_triples_.release(word.triples, length);
  word.triples = list;
}

// The first `most` of a list, without the thread's.
Triples BackwardWalk::keep_triples(Triples list, unsigned most,
                                   std::optional<std::uint32_t> without) {
  if (list == 0 || most == 0) return 0;
  OpenTriple first = open_triples_[list];
  Triples next = open_triples_.next(list);
  Triples rest = keep_triples(next, most - 1, without);
  if (first.after.mark.thread() == without) return rest;
  return rest == next ? list : open_triples_.make(first, rest);
}

// The access of the reading thread before `me` is looked for.
void BackwardWalk::open_triple(Place me, const RemoteWant& remote) {
  Want want = remote.wanted.want;
  OpenTriple triple{want.by(), me, want.distance(), remote.wanted.own()};
  Triples before = 0, after = 0;  // what adjacent words have is mostly the same
  memory_.update(remote.address, remote.size, [&](Addr at, unsigned length, MemoryWord& word) {
    if (after == 0 || word.triples != before) {
      before = word.triples;
      after = open_triples_.make(triple, keep_triples(before, kMostOpen - 1, {}));
    }
    set_triples(word, at, length, after);
  });
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
  std::uint32_t thread = now.state.number;
  for (const Touch& touch : touched_) {
    if (touch.word != nullptr && !has_triple(touch.word->triples, thread)) continue;
    memory_.visit(touch.address, touch.size, [&](Addr at, unsigned length, const MemoryWord& part) {
      if (has_triple(part.triples, thread)) extend(closed_, at, length, part.triples);
    });
    for (const auto& [at, bytes, list] : closed_) {
      note_beside(now.me.mark.seq());
      for (Triples one = list; one != 0; one = open_triples_.next(one))
        if (open_triples_[one].after.mark.thread() == thread)
          close_triple(now, touch.slot->write, open_triples_[one], {at, bytes});
      Triples left = keep_triples(list, kMostOpen, thread);
      memory_.update(at, bytes, [this, left](Addr byte, unsigned length, MemoryWord& part) {
        set_triples(part, byte, length, left);
      });
    }
    closed_.clear();
  }
}

void BackwardWalk::close_triple(const Now& now, bool write, const OpenTriple& open, Range range) {
  auto distance = static_cast<float>(open.distance);
  std::uint64_t own = now.own() - open.own;
  float key = 0.3F * distance + 0.6F * std::log2(static_cast<float>(own) + 1) - kEdgeBonus;
  Instance before = instance(now.me), remote = instance(open.remote), after = instance(open.after);
  bool ordered = handed_.before(before.thread, before.seq, remote.thread, remote.seq) &&
                 handed_.before(remote.thread, remote.seq, after.thread, after.seq);
  triples_.add(
      static_cast<std::uint64_t>(before.id.value) << 32 | remote.id.value, after.id.value,
      {before, write, remote, after, range.address, range.size, distance, own, key, 1, ordered});
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

void put_in_order(Slice& slice) {
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
