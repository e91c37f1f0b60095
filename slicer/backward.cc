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

#include "slicer/backward_walk.h"
#include "svd/trace/chunk_stream.h"

namespace svd {
namespace {

constexpr Columns kColumns{.addresses = true, .values = false, .events = true};

}  // namespace

void BackwardWalk::run(Diagnostics& diagnostics, const ProgressFunction& progress) {
  std::uint64_t done = 0;
  ChunkStream stream(input_.trace, TraceReader::Order::kBackward, kColumns);
  while (const ChunkStream::Decoded* next = stream.next()) {
    if (!next->status) {
      add_lost_chunk(diagnostics, input_.trace.chunks()[next->index], next->status.error());
      continue;
    }
    begin_chunk(next->index, next->chunk);
    next->chunk.walk_back(*this);
    progress(done += next->chunk.steps);
  }
  count_initial_reads();
}

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
      if (options_.races) race_before_write(address, size, me);
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

Slice slice_backward(const SliceInput& input, const std::vector<Criterion>& criteria,
                     const SliceOptions& options, Diagnostics& diagnostics,
                     const ProgressFunction& progress) {
  BackwardWalk walk(input, criteria, options);
  walk.run(diagnostics, progress);
  return walk.take(ThreadOrder::of(input.trace, diagnostics));
}

}  // namespace svd
