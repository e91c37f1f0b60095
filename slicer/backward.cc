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
// Cost: time linear in the trace, a shadow of the program's memory, 48 bytes for each instance of
// the slice.
//
// Unsound: what the kernel wrote counts as a definition by the system call, with no order edges.
#include "slicer/backward.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "dpdg/thread_order.h"
#include "slicer/folds.h"
#include "slicer/wants.h"

namespace svd {
namespace {

constexpr Columns kColumns{.addresses = true, .values = false, .events = true};
// Instances of one line that lie closer are taken for one execution of it.
constexpr std::uint64_t kLineSpan = 256;
constexpr float kEdgeBonus = 6;  // SLICES.md: of triples and race edges over plain statements

// What brings an instance into the slice: the nearest of all that want it.
struct Hit {
  bool any = false;
  float distance = 0;
  VertexId needed_by = 0;
  Via via = Via::kCriterion;
};

struct ThreadState {
  explicit ThreadState(std::size_t cells) : wanted(cells) {}
  std::vector<WantId> wanted;  // by cell
  std::uint64_t own = 0;       // instructions met so far
  Hit system_call;             // its effects on memory are wanted
  std::vector<std::pair<Addr, std::uint64_t>> system_reads;
};

// A read from another thread whose reader's access before is looked for.
struct OpenTriple {
  Instance after;
  Instance remote;
  float distance;
  std::uint64_t own;
};

class BackwardWalk {
 public:
  BackwardWalk(const SliceInput& input, const std::vector<Criterion>& criteria,
               const SliceOptions& options)
      : input_(input),
        options_(options),
        criteria_(criteria),
        item_of_(input.code.instr_count()),
        deciding_(input.trace.chunks().size()) {
    std::sort(criteria_.begin(), criteria_.end(),
              [](const Criterion& a, const Criterion& b) { return a.seq < b.seq; });
    open_triples_.emplace_back();
  }

  void run(Diagnostics& diagnostics, const ProgressFunction& progress) {
    Chunk chunk;
    std::uint64_t done = 0;
    for (std::size_t i = input_.trace.chunks().size(); i-- > 0;) {
      if (auto status = input_.trace.decode(i, chunk, kColumns); !status) {
        add_lost_chunk(diagnostics, input_.trace.chunks()[i], status.error());
        continue;
      }
      begin_chunk(i, chunk);
      chunk.walk_back(*this);
      progress(done += chunk.steps);
    }
    count_initial_reads();
  }

  void exec(const Exec& exec);
  void event(const Event& event);

  Slice take(const ThreadOrder& order);

 private:
  ThreadState& thread(ThreadId id) {
    if (threads_.size() <= id.value)
      threads_.resize(id.value + 1, ThreadState(input_.code.cell_count()));
    return threads_[id.value];
  }

  void begin_chunk(std::size_t index, const Chunk& chunk) {
    input_.control.parents(index, chunk, control_);
    exec_index_ = chunk.execs.size();
    chunk_index_ = index;
    chunk_first_ = chunk.first_seq;
    decides_.assign(chunk.steps, 0);
    for (auto [seq, want] : deciding_[index]) decides_[seq - chunk_first_.value] = want;
    deciding_[index].clear();
  }

  void step(const Exec& exec, std::uint16_t index, const Step& step, Seq parent,
            ThreadState& state);
  void take_registers(const Exec& exec, const Step& step, const Instance& me, ThreadState& state,
                      Hit& hit);
  void take_memory(Addr address, std::uint64_t size, const Step* step, const Instance& me,
                   ThreadState& state, Hit& hit);
  void take_want(WantId id, const Instance& me, Hit& hit);
  void take_decision(WantId id, const Instance& me, const Step& step, Hit& hit);
  void join_slice(const Exec& exec, const Step& step, const Instance& me, const Hit& hit,
                  Seq parent, ThreadState& state);
  void apply_criterion(const Exec& exec, const Step& step, const Criterion& criterion,
                       const Instance& me, Seq parent, ThreadState& state);
  VertexId add_item(const Instance& me, const Hit& hit, const ThreadState& state);
  void want_cell(ThreadState& state, Cell cell, VertexId vertex, Via via);
  void want_decision(Seq parent, VertexId vertex);
  void want_reads(const Exec& exec, const Step& step, const Instance& me, VertexId vertex);
  void race_before_write(Addr address, std::uint64_t size, const Instance& me, float distance);
  void race_after_read(Addr address, std::uint64_t size, const Instance& me, float distance);
  void close_triples(Addr address, std::uint64_t size, bool write, const Instance& me,
                     const ThreadState& state);
  void count_initial_reads();

  // Calls f(slot, address, size) for the accesses of a step that happened.
  template <class F>
  void accesses(const Exec& exec, const Step& step, F&& f) const {
    const Part& part = exec.shape->part;
    const Block& block = *exec.shape->block;
    std::uint16_t first = std::max(step.first_slot, part.first_slot);
    std::uint16_t end = std::min(step.end_slot, part.end_slot);
    if (exec.addresses == nullptr) return;
    const std::uint64_t* length = exec.lengths;
    if (exec.shape->ranges != 0)
      for (std::uint16_t s = part.first_slot; s < first; ++s) length += block.slots[s].is_range();
    for (std::uint16_t s = first; s < end; ++s) {
      const Slot& slot = block.slots[s];
      std::uint64_t size = slot.is_range() ? *length++ : slot.size;
      std::uint64_t address = exec.addresses[s - part.first_slot];
      if (address != kAbsent.value && size != 0) f(slot, Addr(address), size);
    }
  }

  bool same_line(const Instance& a, const Instance& b) const {
    if (input_.lines.empty() || a.thread != b.thread) return false;
    std::uint32_t line = input_.lines[a.id.value];
    return line != 0 && line == input_.lines[b.id.value] && b.seq - a.seq < kLineSpan;
  }

  const SliceInput& input_;
  SliceOptions options_;
  std::vector<Criterion> criteria_;  // those not yet met, by seq

  Wants wants_;
  std::vector<ThreadState> threads_;
  std::vector<std::uint32_t> item_of_;  // by InstrId, plus 1
  std::vector<SliceItem> items_;

  // Instances that decided: of earlier chunks, and of this one by step.
  std::vector<std::unordered_map<std::uint64_t, WantId>> deciding_;
  std::vector<WantId> decides_;
  ChunkControl control_;
  std::size_t exec_index_ = 0;
  std::size_t chunk_index_ = 0;
  Seq chunk_first_{};

  ByteShadow<Instance> next_write_;       // the first write after here
  ByteShadow<VertexId> writes_in_slice_;  // whose write before is looked for
  ByteShadow<std::uint32_t> triple_at_;   // index into open_triples_
  std::vector<OpenTriple> open_triples_;
  Fold<RemoteRead> remote_reads_;
  Fold<Triple> triples_;
  Fold<RaceEdge> races_;
};

void BackwardWalk::exec(const Exec& exec) {
  --exec_index_;
  const CodeBlock& block = input_.code.block(exec.shape->id);
  const Part& part = exec.shape->part;
  ThreadState& state = thread(exec.thread);
  if (part.end > block.steps.size()) return;
  auto segments = control_.of(exec_index_);
  std::size_t segment = segments.size();
  for (std::uint16_t i = part.end; i-- > part.first;) {
    while (segment > 1 && segments[segment - 1].first > i) --segment;
    step(exec, i, block.steps[i], segments[segment - 1].parent, state);
  }
}

void BackwardWalk::step(const Exec& exec, std::uint16_t index, const Step& step, Seq parent,
                        ThreadState& state) {
  Seq seq = exec.seq + static_cast<std::uint64_t>(index - exec.shape->part.first);
  Instance me{seq, step.id, exec.thread};
  ++state.own;
  Hit hit;
  if (WantId want = decides_[seq - chunk_first_]; want != 0) take_decision(want, me, step, hit);
  take_registers(exec, step, me, state, hit);
  if (step.end_slot > step.first_slot) {
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      if (!slot.write) return;
      if (options_.races) race_before_write(address, size, me, 0);
      take_memory(address, size, &step, me, state, hit);
      if (options_.races) next_write_.set(address, size, me);
    });
  }
  if (step.flow == Flow::kSystemCall && state.system_call.any) {
    const Hit& call = state.system_call;
    if (!hit.any || call.distance < hit.distance) hit = call;
  }
  if (hit.any) join_slice(exec, step, me, hit, parent, state);
  if (step.flow == Flow::kSystemCall) {
    state.system_call = {};
    state.system_reads.clear();
  }
  while (!criteria_.empty() && criteria_.back().seq >= seq) {
    if (criteria_.back().seq == seq)
      apply_criterion(exec, step, criteria_.back(), me, parent, state);
    criteria_.pop_back();
  }
  if (options_.races && !triple_at_.empty() && step.end_slot > step.first_slot) {
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      close_triples(address, size, slot.write, me, state);
    });
  }
}

void BackwardWalk::take_registers(const Exec& exec, const Step& step, const Instance& me,
                                  ThreadState& state, Hit& hit) {
  bool restores = step.restores && options_.save_restore;
  for (CellDef def : input_.code.defs(step)) {
    WantId& wanted = state.wanted[def.cell];
    if (wanted == 0) continue;
    WantId want = wanted;
    wanted = 0;
    if (def.stack) continue;
    if (!restores || input_.code.reg_of(def.cell) != step.saved) {
      take_want(want, me, hit);
      continue;
    }
    Want through = wants_[want];
    through.restore = true;
    through.reg = step.saved;
    through.next = 0;
    accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
      if (!slot.write) wants_.want_memory(address, size, through);
    });
  }
}

// `step` is null for what the kernel writes.
void BackwardWalk::take_memory(Addr address, std::uint64_t size, const Step* step,
                               const Instance& me, ThreadState& state, Hit& hit) {
  if (wants_.memory.empty()) return;
  bool found = false;
  WantId last = 0;
  wants_.memory.visit(address, size, [&](Addr at, unsigned length, WantId id) {
    found = true;
    if (id == last) return;
    last = id;
    for (WantId each = id; each != 0; each = wants_[each].next) {
      const Want want = wants_[each];
      if (want.restore && step != nullptr && step->saves && step->saved == want.reg) {
        Want plain = want;
        plain.restore = false;
        WantId through = wants_.add(plain);
        for (Cell cell : input_.code.cells_of(want.reg)) wants_.merge(state.wanted[cell], through);
        continue;
      }
      take_want(each, me, hit);
      const Vertex vertex = wants_.vertex(want.vertex);
      if (vertex.instance.thread == me.thread || step == nullptr) continue;
      remote_reads_.add(me.id.value, vertex.instance.id.value,
                        {me, vertex.instance, at, length, vertex.distance, 1}, vertex.distance);
      if (!options_.races) continue;
      open_triples_.push_back({vertex.instance, me, vertex.distance, vertex.own});
      triple_at_.set(at, length, static_cast<std::uint32_t>(open_triples_.size() - 1));
    }
  });
  if (found) wants_.memory.set(address, size, 0);
}

void BackwardWalk::take_want(WantId id, const Instance& me, Hit& hit) {
  const Want& want = wants_[id];
  const Vertex& vertex = wants_.vertex(want.vertex);
  bool remote = vertex.instance.thread != me.thread && want.via == Via::kValue;
  float step = remote || same_line(me, vertex.instance) ? 0 : weight(want.via);
  float distance = vertex.distance + step;
  if (hit.any && hit.distance <= distance) return;
  hit = {true, distance, want.vertex, want.via};
}

// A branch, the call of an activation that has no open branch, or what created the thread.
void BackwardWalk::take_decision(WantId id, const Instance& me, const Step& step, Hit& hit) {
  take_want(id, me, hit);
  if (wants_.vertex(wants_[id].vertex).instance.thread != me.thread) {
    hit.via = Via::kSpawn;
  } else if (step.flow == Flow::kCall || step.flow == Flow::kIndirectCall) {
    hit.via = Via::kCall;
  }
  hit.distance += weight(hit.via) - weight(Via::kControl);
}

VertexId BackwardWalk::add_item(const Instance& me, const Hit& hit, const ThreadState& state) {
  VertexId vertex = wants_.add_vertex({me, hit.distance, state.own});
  std::uint32_t& index = item_of_[me.id.value];
  if (index == 0) {
    items_.push_back({.id = me.id, .distance = hit.distance + 1});
    index = static_cast<std::uint32_t>(items_.size());
  }
  SliceItem& item = items_[index - 1];
  ++item.instances;
  if (std::find(item.threads.begin(), item.threads.end(), me.thread) == item.threads.end())
    item.threads.push_back(me.thread);
  if (hit.distance < item.distance) {
    item.distance = hit.distance;
    item.nearest = me;
    item.needed_by = hit.needed_by == 0 ? me : wants_.vertex(hit.needed_by).instance;
    item.via = hit.via;
  }
  return vertex;
}

void BackwardWalk::join_slice(const Exec& exec, const Step& step, const Instance& me,
                              const Hit& hit, Seq parent, ThreadState& state) {
  VertexId vertex = add_item(me, hit, state);
  if (options_.control) want_decision(parent, vertex);
  if (!options_.data) return;
  for (CellUse use : input_.code.uses(step)) {
    if (use.role == UseRole::kAddress && !options_.addresses) continue;
    want_cell(state, use.cell, vertex, use.role == UseRole::kAddress ? Via::kAddress : Via::kValue);
  }
  want_reads(exec, step, me, vertex);
  if (step.flow == Flow::kSystemCall)
    for (auto [address, size] : state.system_reads)
      wants_.want_memory(address, size, {.vertex = vertex, .via = Via::kValue});
  if (!options_.races) return;
  accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
    if (slot.write) writes_in_slice_.set(address, size, vertex);
  });
}

void BackwardWalk::apply_criterion(const Exec& exec, const Step& step, const Criterion& criterion,
                                   const Instance& me, Seq parent, ThreadState& state) {
  VertexId vertex = add_item(me, {.any = true}, state);
  for (CellUse use : input_.code.uses(step)) {
    bool address = use.role == UseRole::kAddress;
    if (address ? criterion.addresses : criterion.values)
      want_cell(state, use.cell, vertex, Via::kValue);
  }
  for (Reg reg : criterion.registers)
    for (Cell cell : input_.code.cells_of(reg)) want_cell(state, cell, vertex, Via::kValue);
  for (auto [address, size] : criterion.memory)
    wants_.want_memory(address, size, {.vertex = vertex, .via = Via::kValue});
  if (criterion.values) want_reads(exec, step, me, vertex);
  if (criterion.control && options_.control) want_decision(parent, vertex);
}

void BackwardWalk::want_reads(const Exec& exec, const Step& step, const Instance& me,
                              VertexId vertex) {
  float distance = wants_.vertex(vertex).distance;
  accesses(exec, step, [&](const Slot& slot, Addr address, std::uint64_t size) {
    if (slot.write || step.flow == Flow::kReturn) return;
    if (slot.role == Role::kAddress && !options_.addresses) return;
    if (options_.races) race_after_read(address, size, me, distance);
    Via via = slot.role == Role::kAddress ? Via::kAddress : Via::kValue;
    wants_.want_memory(address, size, {.vertex = vertex, .via = via});
  });
}

void BackwardWalk::want_cell(ThreadState& state, Cell cell, VertexId vertex, Via via) {
  WantId& wanted = state.wanted[cell];
  float mine = wants_.vertex(vertex).distance + weight(via);
  if (wanted != 0 && wants_.cost(wanted) <= mine) return;
  wanted = wants_.add({.vertex = vertex, .via = via});
}

void BackwardWalk::want_decision(Seq parent, VertexId vertex) {
  if (parent == kNoParent) return;
  WantId want = wants_.add({.vertex = vertex, .via = Via::kControl});
  if (parent >= chunk_first_) {
    wants_.merge(decides_[parent - chunk_first_], want);
  } else {
    std::size_t chunk = input_.trace.chunk_at(parent);
    wants_.merge(deciding_[chunk][parent.value], want);
  }
}

// `me` writes: it is the write before those writes of the slice that are open at these bytes.
void BackwardWalk::race_before_write(Addr address, std::uint64_t size, const Instance& me, float) {
  if (writes_in_slice_.empty()) return;
  bool found = false;
  writes_in_slice_.visit(address, size, [&](Addr at, unsigned length, VertexId id) {
    found = true;
    const Vertex& vertex = wants_.vertex(id);
    if (vertex.instance.thread == me.thread) return;
    float gap = std::log2(static_cast<float>(vertex.instance.seq - me.seq) + 1);
    float key = 0.6F * vertex.distance + 0.3F * gap - kEdgeBonus;
    races_.add(me.id.value, vertex.instance.id.value,
               {RaceEdge::Kind::kWriteAfterWrite, me, vertex.instance, at, length, vertex.distance,
                key, 1, false},
               key);
  });
  if (found) writes_in_slice_.set(address, size, 0);
}

// `me` reads and is in the slice: the write after it could have come before.
void BackwardWalk::race_after_read(Addr address, std::uint64_t size, const Instance& me,
                                   float distance) {
  next_write_.visit(address, size, [&](Addr at, unsigned length, const Instance& write) {
    if (write.thread == me.thread) return;
    float gap = std::log2(static_cast<float>(write.seq - me.seq) + 1);
    float key = 0.6F * distance + 0.3F * gap - kEdgeBonus;
    races_.add(me.id.value, write.id.value | std::uint64_t{1} << 32,
               {RaceEdge::Kind::kWriteAfterRead, me, write, at, length, distance, key, 1, false},
               key);
  });
}

void BackwardWalk::close_triples(Addr address, std::uint64_t size, bool write, const Instance& me,
                                 const ThreadState& state) {
  bool found = false;
  triple_at_.visit(address, size, [&](Addr at, unsigned length, std::uint32_t index) {
    const OpenTriple& open = open_triples_[index];
    if (open.after.thread != me.thread || open.remote.seq < me.seq) return;
    found = true;
    std::uint64_t own = state.own - open.own;
    float key = 0.3F * open.distance + 0.6F * std::log2(static_cast<float>(own) + 1) - kEdgeBonus;
    Triple triple{me, write, open.remote, open.after, at, length, open.distance, own, key, 1};
    triples_.add(static_cast<std::uint64_t>(me.id.value) << 32 | open.remote.id.value,
                 open.after.id.value, triple, key);
    triple_at_.set(at, length, 0);
  });
}

void BackwardWalk::event(const Event& event) {
  if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    ThreadState& state = thread(event.thread);
    if (kernel->access == Access::kRead) {
      state.system_reads.emplace_back(kernel->address, kernel->size);
      return;
    }
    Instance me{event.seq, {}, event.thread};
    Hit hit;
    take_memory(kernel->address, kernel->size, nullptr, me, state, hit);
    if (hit.any && (!state.system_call.any || hit.distance < state.system_call.distance)) {
      state.system_call = hit;
      state.system_call.via = Via::kSystemCall;
    }
  } else if (const auto* alloc = std::get_if<Allocation>(&event.body)) {
    // What was there before is another object's; a realloc keeps its contents.
    if (alloc->function == AllocFn::kRealloc) return;
    wants_.memory.visit(alloc->address, alloc->size, [&](Addr, unsigned, WantId id) {
      ++items_[item_of_[wants_.vertex(wants_[id].vertex).instance.id.value] - 1].initial_reads;
    });
    wants_.memory.set(alloc->address, alloc->size, 0);
    if (!options_.races) return;
    next_write_.set(alloc->address, alloc->size, {});
    writes_in_slice_.set(alloc->address, alloc->size, 0);
    triple_at_.set(alloc->address, alloc->size, 0);
  } else if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
    // The child began with its parent's registers.
    thread(create->child);
    ThreadState& parent = thread(event.thread);
    ThreadState& child = thread(create->child);
    for (std::size_t cell = 0; cell < child.wanted.size(); ++cell)
      if (child.wanted[cell] != 0) wants_.merge(parent.wanted[cell], child.wanted[cell]);
    std::fill(child.wanted.begin(), child.wanted.end(), 0);
  }
}

void BackwardWalk::count_initial_reads() {
  wants_.memory.visit_all([&](Addr, unsigned, WantId id) {
    ++items_[item_of_[wants_.vertex(wants_[id].vertex).instance.id.value] - 1].initial_reads;
  });
}

Slice BackwardWalk::take(const ThreadOrder& order) {
  Slice slice;
  slice.instances = wants_.vertex_count();
  slice.items = std::move(items_);
  slice.remote_reads = remote_reads_.take();
  slice.triples = triples_.take();
  slice.races = races_.take();
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
  return slice;
}

}  // namespace

Slice slice_backward(const SliceInput& input, const std::vector<Criterion>& criteria,
                     const SliceOptions& options, Diagnostics& diagnostics,
                     const ProgressFunction& progress) {
  BackwardWalk walk(input, criteria, options);
  walk.run(diagnostics, progress);
  return walk.take(ThreadOrder::of(input.trace, diagnostics));
}

}  // namespace svd
