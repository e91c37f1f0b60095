// SPDX-License-Identifier: Apache-2.0
//
// Definition (Tallam, Tian, Gupta, Fig. 2): the backward closure of the criterion over read-after-
// write and control dependences; then, for every instance of it that takes part in a read-after-
// write, one step backward over write-after-write and one forward over write-after-read, between
// threads, and only to the adjacent access (what lies further follows by transitivity, Netzer).
//
//     T1  x = 1;        W       the reads of x below follow from this ...
//     T2  x = 2;        in the slice: it is what T1 reads
//     T1  y = x;        in the slice
//     T1  assert(y == 1)        criterion; W -> (x = 2) is a write-after-write edge, and with the
//                               read of x, T1's W .. T2 .. T1's read is a triple
//
// Algorithm: all edges point back in time, so one reverse walk meets every definition after all its
// uses. It holds what is still wanted: cells of each thread's registers, bytes of memory, instances
// that decided. An instance that satisfies a want joins the slice and wants what it follows from.
// Its distance is final when it is met, because whatever needs it comes later in the trace: a
// shortest path without a queue.
// What decided about a chunk's instances is found by the thread that decodes it, and so are, when
// this walk is done with the chunk, the order edges and triples (order_walk.h).
// Cost: time linear in the trace; words of 56 bytes for 8 bytes of the program's memory, and what
// is wanted at one time.
#include "slicer/backward.h"

#include <algorithm>
#include <optional>

#include "slicer/backward_walk.h"
#include "slicer/restored_edges.h"
#include "svd/trace/block.h"

namespace svd {
namespace {

constexpr Columns kColumns{
    .addresses = true, .values = false, .events = ~EventKinds::of<Sync, Release, SyscallExit>()};

}  // namespace

BackwardWalk::BackwardWalk(const SliceInput& input, const std::vector<Criterion>& criteria,
                           const SliceOptions& options, const Sequencers* sequencers)
    : input_(input),
      options_(options),
      criteria_(criteria),
      faults_(input.control.faults()),
      code_(input.code, input.trace.blocks(), options),
      counted_(input.code.instr_count()),
      deciding_(input.trace.chunks().size()),
      touches_(code_.most_slots()),
      order_walk_(input, options, code_, sequencers),
      limited_(options.scope.limits()) {
  if (options.which) members_ = InstanceSet(input.trace);
  std::sort(criteria_.begin(), criteria_.end(),
            [](const Criterion& a, const Criterion& b) { return a.seq < b.seq; });
}

void BackwardWalk::run(Diagnostics& diagnostics, const ProgressFunction& progress) {
  std::uint64_t done = 0;
  auto find_parents = [this](const ChunkStream::Decoded& decoded) {
    input_.control.parents(decoded.index, decoded.chunk, controls_[decoded.place]);
    decides_of_[decoded.place].assign(decoded.chunk.steps, 0);
  };
  auto find_order = [this](const ChunkStream::Decoded& decoded) {
    if (options_.races) order_walk_.follow(decoded.chunk, joins_[decoded.place]);
  };
  ChunkStream stream(input_.trace, TraceReader::Order::kBackward, kColumns, find_parents,
                     find_order);
  while (const ChunkStream::Decoded* next = stream.next(diagnostics)) {
    begin_chunk(*next);
    next->chunk.walk_back(*this);
    progress(done += next->chunk.steps);
  }
  std::vector<MemoryWant> left;
  memory_.visit_all([&left](Addr at, unsigned, const MemoryWord& word) {
    if (word.want.any() && !is_channel(at)) left.push_back(word.want);
  });
  std::sort(left.begin(), left.end(),
            [](const MemoryWant& a, const MemoryWant& b) { return a.reader() < b.reader(); });
  auto same = [](const MemoryWant& a, const MemoryWant& b) { return a.reader() == b.reader(); };
  left.erase(std::unique(left.begin(), left.end(), same), left.end());
  for (const MemoryWant& want : left) count_initial_read(want);
  if (unplaced_ != 0 && diagnostics.first("unplaced-transfer", 0))
    diagnostics.add("unplaced-transfer", Severity::kInfo, unplaced_,
                    "threads used one file or pipe at the same time; where in it is not known, and "
                    "what they wrote is not followed to who read it");
}

void BackwardWalk::begin_chunk(const ChunkStream::Decoded& decoded) {
  flush_decision();
  control_ = &controls_[decoded.place];
  joined_ = &joins_[decoded.place];
  joined_->clear();
  ahead_.begin_chunk(decoded.chunk);
  exec_index_ = decoded.chunk.execs.size();
  chunk_first_ = decoded.chunk.first_seq;
  decides_ = decides_of_[decoded.place];
  decisions_.assign(1, {});
  for (const auto& [seq, want] : deciding_[decoded.index]) decide(Seq(seq), want);
  deciding_[decoded.index].clear();
}

BackwardWalk::ThreadState& BackwardWalk::find_thread(ThreadId id) {
  auto number = static_cast<std::uint32_t>(threads_.size());
  auto [entry, fresh] = thread_numbers_.try_emplace(id.value, number);
  if (fresh) {
    SVD_CHECK(number < Mark::kMostThreads);
    threads_.push_back({.id = id,
                        .number = number,
                        .bit = number < 64 ? std::uint64_t{1} << number : 0,
                        .registers = RegisterWants(code_)});
  }
  recent_id_ = id;
  recent_ = entry->second;
  return threads_[recent_];
}

void BackwardWalk::exec(const Exec& exec) {
  --exec_index_;
  std::span<const WalkStep> steps = code_.steps(exec.shape->id);
  const Part& part = exec.shape->part;
  ThreadState& state = thread(exec.thread);
  if (part.end > steps.size()) return;
  faults_.reach(exec);
  ahead_.bring(memory_, exec, [this](const MemoryWord& word) {
    if (word.more != 0) memory_wants_.prefetch(word.more);
  });
  if (pending_parent_ != kNoParent && pending_parent_ >= exec.seq) flush_decision();
  Now now{.exec = exec, .state = state, .own_after = state.own + part.end};
  state.own += part.steps();
  std::uint16_t end = may_matter(exec, state) ? part.end : pass_over(exec);
  if (end == part.first) return;
  now.careful = takes_care(exec, state);
  auto segments = control_->of(exec_index_);
  auto segment = segments.rbegin();
  const std::uint32_t* decides = &decides_[exec.seq - chunk_first_] - part.first;
  for (std::uint16_t i = end; i-- > part.first;) {
    while (segment->first > i && segment + 1 != segments.rend()) {
      ++segment;
      flush_decision();
    }
    const WalkStep& step = steps[i];
    bool wanted = ((step.defines & state.registers.bits()) | decides[i]) != 0;
    if (!wanted && !step.writes && !now.careful) continue;
    set(now, i, step);
    now.parent = segment->parent;
    if (step.writes) look(now);
    this->step(now, decides[i]);
  }
}

// Whether the execution is one of the few about which there is more to know.
bool BackwardWalk::takes_care(const Exec& exec, const ThreadState& state) const {
  return state.kernel.any() || faults_.any(exec) ||
         (!criteria_.empty() && criteria_.back().seq >= exec.seq);
}

// The end of the steps of an execution that are left when what only writes what nothing wants is
// passed over: the last of them is wanted, or takes more care.
std::uint16_t BackwardWalk::pass_over(const Exec& exec) {
  const Part& part = exec.shape->part;
  if (exec.shape->ranges != 0 || faults_.any(exec)) return part.end;
  if (exec.addresses == nullptr) return part.first;
  const std::vector<Slot>& slots = exec.shape->block->slots;
  for (std::uint16_t s = part.end_slot; s-- > part.first_slot;) {
    const Slot& slot = slots[s];
    Addr address(exec.addresses[s - part.first_slot]);
    if (!slot.write || address == kAbsent) continue;
    const MemoryWord* word = memory_.single(address, slot.size);
    if (word == nullptr || word->want.any())
      return static_cast<std::uint16_t>(slot.instruction + 1);
  }
  return part.first;
}

// Whether anything but its accesses can bring a part of the execution into the slice.
bool BackwardWalk::may_matter(const Exec& exec, const ThreadState& state) const {
  if ((code_.defines(exec.shape->id) & state.registers.bits()) != 0 || state.kernel.any())
    return true;
  if (!criteria_.empty() && criteria_.back().seq >= exec.seq) return true;
  auto first = decides_.begin() + static_cast<std::ptrdiff_t>(exec.seq - chunk_first_);
  std::uint32_t any = 0;
  for (std::uint32_t i = 0; i < exec.shape->part.steps(); ++i) any |= first[i];
  return any != 0;
}

inline void BackwardWalk::step(const Now& now, std::uint32_t decision) {
  const WalkStep& step = *now.step;
  ThreadState& state = now.state;
  Hit hit;
  if (decision != 0) hit = take_decision(decisions_[decision], now);
  if ((step.defines & state.registers.bits()) != 0 &&
      !(now.careful && faults_.faulted(now.exec, now.index)))
    hit = step.restores ? take_restored(now, hit) : take_registers(now, hit);
  if (step.writes)
    for (const Touch& touch : touched_)
      if (touch.slot->write) hit = write_memory(now, touch, hit);
  if (now.careful) hit = take_kernel(state.kernel, hit);
  bool joins = hit.any() && (!limited_ || options_.scope.admits(instance(now.me),
                                                                static_cast<float>(hit.cost())));
  if (joins) join_slice(now, hit);
  if (joins && !remote_wants_.empty()) give_to_others(now);
  remote_wants_.clear();
  if (now.careful) finish_carefully(now);
}

void BackwardWalk::finish_carefully(const Now& now) {
  meet_criteria(now);
  now.state.kernel = {};
}

void BackwardWalk::meet_criteria(const Now& now) {
  while (!criteria_.empty() && criteria_.back().seq >= now.me.mark.seq()) {
    if (criteria_.back().seq == now.me.mark.seq()) apply_criterion(now, criteria_.back());
    criteria_.pop_back();
  }
}

inline Hit BackwardWalk::take_registers(const Now& now, Hit hit) const {
  RegisterWants& registers = now.state.registers;
  if ((now.step->defines & registers.bits() & kFarBit) != 0) hit = take_far(now, hit);
  registers.take(now.step->defines & ~kFarBit, now.step->without_data,
                 [&](Want want) { hit = take_want(want, now.me, hit); });
  return hit;
}

Hit BackwardWalk::take_far(const Now& now, Hit hit) const {
  for (Cell cell : code_.far(*now.step))
    if (Want want = now.state.registers.take(cell); want.any()) hit = take_want(want, now.me, hit);
  now.state.registers.look_for_far();
  return hit;
}

// Who wants a restored register wants what was saved.
Hit BackwardWalk::take_restored(const Now& now, Hit hit) {
  for (CellDef def : input_.code.defs(source(now))) {
    Want want = now.state.registers.take(def.cell);
    if (def.stack || !want.any()) continue;
    if (input_.code.reg_of(def.cell) != now.step->saved) {
      hit = take_want(want, now.me, hit);
      continue;
    }
    MemoryWant saved = MemoryWant::saved(want, now.own(), def.cell);
    each_access(now.exec, *now.step, false,
                [&](const Slot& slot, Addr address, std::uint64_t size) {
                  if (!slot.write) want_memory(address, size, saved);
                });
  }
  return hit;
}

// The accesses of the step at hand. Words that one of them can split or join are left out.
void BackwardWalk::look(const Now& now) {
  bool whole = true;
  std::size_t count = 0;
  bool faulted = now.careful && faults_.faulted(now.exec, now.index);
  each_access(now.exec, *now.step, faulted,
              [&](const Slot& slot, Addr address, std::uint64_t size) {
                MemoryWord* word = memory_.single(address, size);
                whole = whole && word != nullptr;
                touches_[count++] = {&slot, address, size, word};
              });
  touched_ = {touches_.data(), count};
  if (whole) return;
  for (std::size_t i = 0; i < count; ++i) touches_[i].word = nullptr;
}

inline Hit BackwardWalk::write_memory(const Now& now, const Touch& touch, Hit hit) {
  MemoryWord* word = touch.word;
  if (word != nullptr && !word->want.any()) return hit;
  if (word == nullptr || word->more != 0 || word->want.is_saved() ||
      !word->want.want.mark().same_thread(now.me.mark))
    return write_parts(now, touch, hit);
  hit = take_want(word->want.want, now.me, hit);
  word->want = {};
  return hit;
}

// In any case.
Hit BackwardWalk::write_parts(const Now& now, const Touch& touch, Hit hit) {
  auto take = [this](Addr at, std::uint64_t length, MemoryWord& word) {
    if (word.want.any()) take_word(at, length, word);
  };
  if (touch.word != nullptr)
    take(touch.address, touch.size, *touch.word);
  else
    memory_.update_present(touch.address, touch.size, take);
  return taken_.empty() ? hit : take_memory(now.me, now.step, now.state, hit);
}

// To be followed by take_memory.
void BackwardWalk::take_word(Addr at, std::uint64_t length, MemoryWord& word) {
  extend(taken_, at, length, {word.want, word.more});
  word.want = {};
  word.more = 0;
}

// `step` is null for what the kernel writes.
Hit BackwardWalk::take_memory(Place me, const WalkStep* step, ThreadState& state, Hit hit) {
  for (const auto& [address, size, what] : taken_) {
    memory_wants_.each(what.want, what.more, [&, at = address, bytes = size](MemoryWant wanted) {
      Want want = wanted.want;
      if (wanted.is_saved() && step != nullptr && step->saves &&
          step->saved == input_.code.reg_of(wanted.cell()))
        return state.registers.want(wanted.cell(), want);
      hit = take_want(want, me, hit);
      if (!want.mark().same_thread(me.mark) && step != nullptr)
        remote_wants_.push_back({at, bytes, wanted});
    });
    memory_wants_.found(what.more, size);
  }
  taken_.clear();
  return hit;
}

// Other threads read what it wrote. What the kernel wrote opens no triple.
void BackwardWalk::give_to_others(const Now& now) {
  std::uint32_t told = 0;
  for (const auto& [address, size, wanted, kernel] : remote_wants_) {
    Want want = wanted.want;
    Instance by = instance(want.by());
    auto distance = static_cast<float>(want.distance());
    remote_reads_.add(now.me.id.value, want.id().value,
                      {instance(now.me), by, address, size, distance, 1});
    if (!options_.races || kernel) continue;
    joined_->reads.push_back({address, size, by, want.distance(), wanted.own()});
    ++told;
  }
  if (told != 0) tell(now, Joined::Kind::kGives, told);
}

// A branch, the call of an activation that has no open branch, or what created the thread.
Hit BackwardWalk::take_decision(Want want, const Now& now) const {
  Via via = Via::kControl;
  if (!want.mark().same_thread(now.me.mark))
    via = Via::kSpawn;
  else if (now.step->calls)
    via = Via::kCall;
  Distance cost = same_line(now.me, want) ? want.distance() : want.cost();
  return want.as(via, cost + weight(via) - weight(Via::kControl));
}

inline void BackwardWalk::add_item(Place me, std::uint64_t bit, Hit hit) {
  if (options_.which) members_.add(me.mark.seq());
  Counted& counted = counted_[me.id.value];
  ++counted.instances;
  if (hit.cost() < counted.distance) set_nearest(counted, me, hit);
  if ((counted.threads & bit) == 0) add_thread(counted, me.mark.thread());
}

void BackwardWalk::set_nearest(Counted& counted, Place me, Hit hit) {
  if (counted.item == 0) {
    items_.push_back({.id = me.id});
    counted.item = static_cast<std::uint32_t>(items_.size());
  }
  counted.distance = hit.cost();
  SliceItem& item = items_[counted.item - 1];
  item.distance = static_cast<float>(hit.cost());
  item.nearest = instance(me);
  item.needed_by = instance(hit.by());
  item.via = hit.via();
}

void BackwardWalk::add_thread(Counted& counted, std::uint32_t thread) {
  counted.threads |= threads_[thread].bit;
  std::vector<ThreadId>& known = items_[counted.item - 1].threads;
  ThreadId id = threads_[thread].id;
  if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
}

inline void BackwardWalk::join_slice(const Now& now, Hit hit) {
  Distance distance = std::min(hit.cost(), kFarthest);
  add_item(now.me, now.state.bit, hit);
  if (options_.control) want_decision(now.parent, now.me, distance);
  if (!options_.data) return;
  const WalkStep& step = *now.step;
  RegisterWants& registers = now.state.registers;
  Want value(now.me, distance, Via::kValue);
  for (const CellSet& use : code_.values(step)) registers.want(use, value);
  if (step.addresses != 0) {
    Want address(now.me, distance, Via::kAddress);
    for (const CellSet& use : code_.addresses(step)) registers.want(use, address);
  }
  if (step.reads) want_reads(now, distance);
  if ((step.reads || step.writes) && options_.races) tell(now, Joined::Kind::kMember, distance);
  if (now.careful) want_arguments(now, value);
}

void BackwardWalk::apply_criterion(const Now& now, const Criterion& criterion) {
  add_item(now.me, now.state.bit, Want(now.me, 0, Via::kCriterion));
  Want value(now.me, 0, Via::kValue);
  Want address(now.me, 0, Via::kAddress);
  bool values = criterion.values && options_.data;
  bool addresses = criterion.addresses && options_.data;
  for (CellUse use : input_.code.uses(source(now)))
    if (use.role == UseRole::kAddress ? addresses : values)
      now.state.registers.want(use.cell, use.role == UseRole::kAddress ? address : value);
  for (Reg reg : criterion.registers)
    for (Cell cell : code_.cells_of(reg)) now.state.registers.want(cell, value);
  std::uint64_t access = kMaxBlockSlots;
  for (auto [at, size] : criterion.memory) want_memory(at, size, {value, now.own(), access++});
  look(now);
  if (values && !now.step->returns) want_reads(now, 0);
  if (values) want_arguments(now, value);
  if (values && options_.races) tell(now, Joined::Kind::kCriterion, 0);
  if (criterion.control && options_.control) want_decision(now.parent, now.me, 0);
}

void BackwardWalk::want_reads(const Now& now, Distance distance) {
  if (!now.step->writes) look(now);
  for (const Touch& touch : touched_) {
    const Slot& slot = *touch.slot;
    if (slot.write) continue;
    Via via = slot.role == Role::kAddress ? Via::kAddress : Via::kValue;
    if (via == Via::kAddress && !options_.addresses) continue;
    MemoryWant want(Want(now.me, distance, via), now.own(), slot_number(now.exec, slot));
    MemoryWord* word = touch.word;
    if (word == nullptr)
      want_memory(touch.address, touch.size, want);
    else if (word->want.any())
      memory_wants_.want(*word, static_cast<unsigned>(touch.size), want);
    else
      word->want = want;
  }
}

void BackwardWalk::want_memory(Addr address, std::uint64_t size, const MemoryWant& want) {
  MemoryWants::Alike alike;
  memory_.update(address, size, [&](Addr, unsigned length, MemoryWord& word) {
    memory_wants_.want(word, length, want, alike);
  });
}

void BackwardWalk::flush_decision() {
  if (pending_parent_ == kNoParent) return;
  if (pending_parent_ >= chunk_first_) {
    decide(pending_parent_, pending_);
  } else {
    if (pending_parent_ != far_parent_) {
      far_parent_ = pending_parent_;
      far_decision_ = &deciding_[input_.trace.chunk_of(far_parent_)][far_parent_.value];
    }
    far_decision_->merge(pending_);
  }
  pending_parent_ = kNoParent;
  pending_ = {};
}

// `seq` is of this chunk.
void BackwardWalk::decide(Seq seq, Want want) {
  std::uint32_t& place = decides_[seq - chunk_first_];
  if (place == 0) {
    place = static_cast<std::uint32_t>(decisions_.size());
    decisions_.emplace_back();
  }
  decisions_[place].merge(want);
}

Slice BackwardWalk::take() {
  Slice slice;
  for (const Counted& counted : counted_) {
    if (counted.item != 0) items_[counted.item - 1].instances = counted.instances;
    slice.instances += counted.instances;
  }
  slice.items = std::move(items_);
  slice.remote_reads = remote_reads_.take();
  slice.channels = std::move(channels_);
  slice.members = std::move(members_);
  order_walk_.take(slice);
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

Slice slice_backward(const SliceInput& input, const std::vector<Criterion>& criteria,
                     const SliceOptions& options, Diagnostics& diagnostics,
                     const ProgressFunction& progress) {
  std::optional<Sequencers> sequencers;
  Diagnostics told;  // by the walk
  if (options.unordered) sequencers = Sequencers::of(input.trace, told);
  const Sequencers* unordered = sequencers ? &*sequencers : nullptr;
  SliceOptions used = options;
  used.which = options.which || options.restored;
  BackwardWalk walk(input, criteria, used, unordered);
  walk.run(diagnostics, progress);
  Slice slice = walk.take();
  if (options.restored)
    slice.races = restored_edges(input, slice, criteria, options, walk.order(), unordered, told);
  put_in_order(slice);
  return slice;
}

}  // namespace svd
