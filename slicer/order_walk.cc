// SPDX-License-Identifier: Apache-2.0
//
// What threads did to each other around a slice: adjacent writes and reads that could have come in
// the other order, and accesses between which another thread wrote.
#include "slicer/order_walk.h"

#include <algorithm>
#include <cmath>

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

float race_key(std::uint64_t apart, float distance) {
  return 0.6F * distance + 0.3F * std::log2(static_cast<float>(apart) + 1) - kEdgeBonus;
}

OrderWalk::OrderWalk(const SliceInput& input, const SliceOptions& options, const WalkCode& code,
                     const Sequencers* sequencers)
    : input_(input),
      options_(options),
      code_(code),
      sequencers_(sequencers),
      order_(ThreadOrder::of(input.control.ordering(), false)),
      handed_(ThreadOrder::of(input.control.ordering(), true)),
      faults_(input.control.faults()),
      touches_(code.most_slots()) {
  if (options.which) beside_ = InstanceSet(input.trace);
}

void OrderWalk::follow(const Chunk& chunk, const Joins& joins) {
  chunk_first_ = chunk.first_seq;
  joined_ = joins.instances;
  reads_ = joins.reads;
  ahead_.begin_chunk(chunk);
  chunk.walk_back(*this);
}

OrderWalk::ThreadState& OrderWalk::find_thread(ThreadId id) {
  auto number = static_cast<std::uint32_t>(threads_.size());
  auto [entry, fresh] = thread_numbers_.try_emplace(id.value, number);
  if (fresh) threads_.push_back({id, number});
  recent_id_ = id;
  recent_ = entry->second;
  return threads_[recent_];
}

// What was there before is another object's; a realloc keeps its contents.
void OrderWalk::event(const Event& event) {
  if (std::uint64_t missing = left_out(event)) thread(event.thread).own += missing;
  auto fresh = fresh_memory(event);
  const auto* made = std::get_if<Allocation>(&event.body);
  if (!fresh || (made != nullptr && made->function == AllocFn::kRealloc)) return;
  memory_.update_present(fresh->address, fresh->size, [this](Addr at, unsigned length, Word& word) {
    set_triples(word, at, length, 0);
    word = {};
  });
}

void OrderWalk::exec(const Exec& exec) {
  std::span<const WalkStep> steps = code_.steps(exec.shape->id);
  const Part& part = exec.shape->part;
  if (part.end > steps.size()) return;
  faults_.reach(exec);
  ThreadState& state = thread(exec.thread);
  Now now{.exec = exec, .state = state, .own_after = state.own + part.end};
  state.own += part.steps();
  if (exec.addresses == nullptr) return;
  ahead_.bring(memory_, exec, [this](const Word& word) {
    if (word.triples != 0) open_triples_.prefetch(word.triples);
  });
  bool special = exec.shape->ranges != 0 || faults_.any(exec);
  auto first_number = static_cast<std::uint32_t>(exec.seq - chunk_first_);
  const std::vector<Slot>& slots = exec.shape->block->slots;
  for (std::uint16_t s = part.end_slot; s > part.first_slot;) {
    std::uint16_t end = s--;
    std::uint16_t i = slots[s].instruction;
    while (s > part.first_slot && slots[s - 1U].instruction == i) --s;
    std::uint32_t number = first_number + i - part.first;
    while (!joined_.empty() && joined_.front().step() > number) joined_ = joined_.subspan(1);
    set(now, i, steps[i]);
    if (special || end - s > 1 || !access(now, slots[s], exec.addresses[s - part.first_slot]))
      step(now);
  }
}

// The only access of a step, where it is nothing special; else false, and nothing is done.
inline bool OrderWalk::access(const Now& now, const Slot& slot, std::uint64_t at) {
  std::uint32_t number = number_of(now);
  bool joins = !joined_.empty() && joined_.front().step() == number;
  Addr address(at);
  if (!joins && !slot.write && !triple_pages_.any(now.state.number, address, slot.size))
    return true;
  if (address == kAbsent) return !joins;
  Word* word = memory_.single(address, slot.size);
  if (word == nullptr || (word->triples != 0 && has_triple(word->triples, now.state.number)))
    return false;
  Distance distance = kNowhere;
  if (joins) {
    if (joined_.front().kind() != Joined::Kind::kMember || more_of(number)) return false;
    distance = next_distance();
  }
  if (slot.write) {
    write(now, {&slot, address, slot.size, word});
    word->write_distance = distance;
  } else if (joins && now.step->reads && !word->write.none() && is_edge(*word, now.me) &&
             follows(slot)) {
    raced_.push_back({address, slot.size, {{word->write, word->write_id}, distance}});
    tell_races(RaceEdge::Kind::kWriteAfterRead, now.me);
  }
  return true;
}

void OrderWalk::step(const Now& now) {
  std::uint32_t number = number_of(now);
  bool faulted = faults_.faulted(now.exec, now.index);
  look(now, faulted);
  for (const Touch& touch : touched_)
    if (touch.slot->write) write(now, touch);
  if (is_next(number, Joined::Kind::kMember)) {
    Distance distance = next_distance();
    if (now.step->reads) tell_reads(now, distance);
    mark_writes(distance);
  }
  if (may_close(now)) close_triples(now);
  // What it wrote for others opens new ones at the same place.
  if (is_next(number, Joined::Kind::kGives)) open_triples(now.me, next_distance());
  while (is_next(number, Joined::Kind::kCriterion)) {
    Distance distance = next_distance();
    look(now, faulted);
    if (!now.step->returns) tell_reads(now, distance);
    mark_writes(distance);
  }
}

std::uint32_t OrderWalk::next_distance() {
  std::uint32_t distance = joined_.front().distance();
  joined_ = joined_.subspan(1);
  return distance;
}

// The accesses of the step at hand. Words that one of them can split or join are left out.
void OrderWalk::look(const Now& now, bool faulted) {
  bool whole = true;
  std::size_t count = 0;
  each_access(now.exec, *now.step, faulted,
              [&](const Slot& slot, Addr address, std::uint64_t size) {
                Word* word = memory_.single(address, size);
                whole = whole && word != nullptr;
                touches_[count++] = {&slot, address, size, word};
              });
  touched_ = {touches_.data(), count};
  if (whole) return;
  for (std::size_t i = 0; i < count; ++i) touches_[i].word = nullptr;
}

void OrderWalk::write(const Now& now, const Touch& touch) {
  auto set = [&](Addr at, std::uint64_t length, Word& word) {
    if (word.write_distance != kNowhere && is_edge(word, now.me))
      extend(raced_, at, length, {{word.write, word.write_id}, word.write_distance});
    word.write = now.me.mark;
    word.write_id = now.me.id;
    word.write_distance = kNowhere;
  };
  if (touch.word != nullptr)
    set(touch.address, touch.size, *touch.word);
  else
    memory_.update(touch.address, touch.size, set);
  if (!raced_.empty()) tell_races(RaceEdge::Kind::kWriteAfterWrite, now.me);
}

// What the slice reads: other threads' writes after it.
void OrderWalk::tell_reads(const Now& now, Distance distance) {
  for (const Touch& touch : touched_) {
    if (touch.slot->write || !follows(*touch.slot)) continue;
    auto tell = [&](Addr at, std::uint64_t length, const Word& word) {
      if (!word.write.none() && is_edge(word, now.me))
        extend(raced_, at, length, {{word.write, word.write_id}, distance});
    };
    if (touch.word != nullptr)
      tell(touch.address, touch.size, *touch.word);
    else
      memory_.visit(touch.address, touch.size, tell);
    if (!raced_.empty()) tell_races(RaceEdge::Kind::kWriteAfterRead, now.me);
  }
}

// Their writes before are looked for.
void OrderWalk::mark_writes(Distance distance) {
  for (const Touch& touch : touched_) {
    if (!touch.slot->write) continue;
    if (touch.word != nullptr)
      touch.word->write_distance = distance;
    else
      memory_.update(touch.address, touch.size,
                     [distance](Addr, unsigned, Word& word) { word.write_distance = distance; });
  }
}

// Of a write, the writes of the slice after it; of a read in the slice, the writes after it, which
// could have come before.
void OrderWalk::tell_races(RaceEdge::Kind kind, Place me) {
  for (const auto& [address, size, race] : raced_) {
    Instance mine = instance(me), other = instance(race.other);
    note_beside(kind == RaceEdge::Kind::kWriteAfterWrite ? mine.seq : other.seq);
    add_race(kind, mine, other, address, size, static_cast<float>(race.distance));
  }
  raced_.clear();
}

void OrderWalk::add_race(RaceEdge::Kind kind, const Instance& first, const Instance& second,
                         Addr address, std::uint64_t size, float distance) {
  if (first.thread == second.thread) return;
  if (sequencers_ != nullptr &&
      sequencers_->ordered(first.thread, first.seq, second.thread, second.seq))
    return;
  std::uint64_t to = second.id.value | static_cast<std::uint64_t>(kind) << 32;
  float key = race_key(input_.control.left_out().apart(first.seq, second.seq), distance);
  if (races_.count_farther(first.id.value, to, key)) return;
  bool ordered = order_.before(first.thread, first.seq, second.thread, second.seq);
  races_.add(first.id.value, to, {kind, first, second, address, size, distance, key, 1, ordered});
}

void OrderWalk::set_triples(Word& word, Addr at, unsigned length, Triples list) {
  if (word.triples == list) return;
  auto owner = [this](Triples one) { return open_triples_[one].after_mark.thread(); };
  if (list != 0) open_triples_.hold(list, length);
  if (list != 0 && open_triples_.next(list) == word.triples) {
    triple_pages_.add(owner(list), at, length);
  } else {
    for (Triples one = list; one != 0; one = open_triples_.next(one))
      triple_pages_.add(owner(one), at, length);
    for (Triples one = word.triples; one != 0; one = open_triples_.next(one))
      triple_pages_.remove(owner(one), at, length);
  }
  if (word.triples != 0) open_triples_.release(word.triples, length);
  word.triples = list;
}

// The first `most` of a list, without the thread's.
Triples OrderWalk::keep_triples(Triples list, unsigned most, std::optional<std::uint32_t> without) {
  if (list == 0 || most == 0) return 0;
  OpenTriple first = open_triples_[list];
  Triples next = open_triples_.next(list);
  Triples rest = keep_triples(next, most - 1, without);
  if (first.after_mark.thread() == without) return rest;
  return rest == next ? list : open_triples_.make(first, rest);
}

// The earliest one was wanted last, and is the last to be opened: it matters most.
void OrderWalk::open_triples(Place me, std::uint32_t count) {
  for (std::uint32_t left = count; left-- > 0;) open_triple(me, reads_[left]);
  reads_ = reads_.subspan(count);
}

// The access of the reading thread before `me` is looked for.
void OrderWalk::open_triple(Place me, const ReadByOther& read) {
  Place after{Mark(read.by.seq, thread(read.by.thread).number), read.by.id};
  OpenTriple triple{after, me, read.distance, read.own};
  Triples before = 0, list = 0;  // what adjacent words have is mostly the same
  memory_.update(read.address, read.size, [&](Addr at, unsigned length, Word& word) {
    if (list == 0 || word.triples != before) {
      before = word.triples;
      list = open_triples_.make(triple, keep_triples(before, kMostOpen - 1, {}));
    }
    set_triples(word, at, length, list);
  });
}

// False: no access of the step is the one before that a triple looks for.
bool OrderWalk::may_close(const Now& now) const {
  if (triple_pages_.empty()) return false;
  const Part& part = now.exec.shape->part;
  std::uint16_t end = std::min(now.step->end_slot, part.end_slot);
  for (std::uint16_t s = std::max(now.step->first_slot, part.first_slot); s < end; ++s) {
    const Slot& slot = now.exec.shape->block->slots[s];
    Addr address(now.exec.addresses[s - part.first_slot]);
    if (slot.is_range() || triple_pages_.any(now.state.number, address, slot.size)) return true;
  }
  return false;
}

void OrderWalk::close_triples(const Now& now) {
  std::uint32_t thread = now.state.number;
  bool changed = false;  // then words can have been joined
  for (const Touch& touch : touched_) {
    if (!changed && touch.word != nullptr && !has_triple(touch.word->triples, thread)) continue;
    memory_.visit(touch.address, touch.size, [&](Addr at, unsigned length, const Word& part) {
      if (has_triple(part.triples, thread)) extend(closed_, at, length, part.triples);
    });
    for (const auto& [at, bytes, list] : closed_) {
      note_beside(now.me.mark.seq());
      for (Triples one = list; one != 0; one = open_triples_.next(one))
        if (open_triples_[one].after_mark.thread() == thread)
          close_triple(now, touch.slot->write, open_triples_[one], {at, bytes});
      Triples left = keep_triples(list, kMostOpen, thread);
      memory_.update(at, bytes, [this, left](Addr byte, unsigned length, Word& part) {
        set_triples(part, byte, length, left);
      });
      changed = true;
    }
    closed_.clear();
  }
}

void OrderWalk::close_triple(const Now& now, bool write, const OpenTriple& open, Range range) {
  auto distance = static_cast<float>(open.distance);
  std::uint64_t own = now.own() - open.own;
  float key = 0.3F * distance + 0.6F * std::log2(static_cast<float>(own) + 1) - kEdgeBonus;
  Instance before = instance(now.me), remote = instance(open.remote()),
           after = instance(open.after());
  std::uint64_t from = static_cast<std::uint64_t>(before.id.value) << 32 | remote.id.value;
  if (triples_.count_farther(from, after.id.value, key)) return;
  bool ordered = handed_.before(before.thread, before.seq, remote.thread, remote.seq) &&
                 handed_.before(remote.thread, remote.seq, after.thread, after.seq);
  triples_.add(
      from, after.id.value,
      {before, write, remote, after, range.address, range.size, distance, own, key, 1, ordered});
}

void OrderWalk::take(Slice& slice) {
  slice.triples = triples_.take();
  slice.races = races_.take();
  slice.beside = std::move(beside_);
}

}  // namespace svd
