// SPDX-License-Identifier: Apache-2.0
//
// Definition: the closure of the criterion over read-after-write and control dependences, forward.
//
//     T1  x = 1;          criterion
//     T2  y = x + z;      in the slice, by value
//     T2  x = 0;          not in it; what reads x from here on is not, either
//     T1  if (y)          in the slice
//     T1    z = 2;        in the slice, by control
//
// Algorithm: all edges point back in time, so what an instance follows from is known when it is
// met. Of each cell of a register and each byte of memory it is held which instance of the slice
// wrote it, if one did; of instances that may still decide about others, that they are in the
// slice. As in a backward slice a register that was saved and restored keeps its writer.
// Cost: time linear in the trace; memory for what the slice wrote.
//
// Unsound: as the backward slice. What the kernel reads for a system call after the call's results
// were used is not followed into these.
#include "slicer/forward.h"

#include "dpdg/lifetimes.h"
#include "dpdg/system_calls.h"
#include "slicer/backward_walk.h"
#include "slicer/forward_walk.h"

namespace svd {
namespace {

// Below it decisions that can decide no more are not looked for.
constexpr std::size_t kFewDecisions = 1 << 16;

}  // namespace

ForwardWalk::ForwardWalk(const SliceInput& input, const ControlFlow& flow,
                         const std::vector<Criterion>& criteria, const SliceOptions& options)
    : input_(input),
      options_(options),
      criteria_(criteria),
      faults_(input.control.faults()),
      tracker_(input.code, flow),
      most_decisions_(kFewDecisions),
      item_of_(input.code.instr_count()) {
  tracker_.set_statements(input.trace.statements());
  std::sort(criteria_.begin(), criteria_.end(),
            [](const Criterion& a, const Criterion& b) { return a.seq < b.seq; });
  if (options.which) slice_.members = InstanceSet(input.trace);
}

void ForwardWalk::run(Diagnostics& diagnostics, const ProgressFunction& progress) {
  std::uint64_t done = 0;
  input_.trace.scan(TraceReader::Order::kForward, {.values = false}, diagnostics,
                    [&](const Chunk& chunk) {
                      chunk.walk(*this);
                      progress(done += chunk.steps);
                      return true;
                    });
}

ForwardWalk::Thread& ForwardWalk::thread(ThreadId id) {
  if (threads_.size() <= id.value)
    threads_.resize(id.value + 1, Thread{std::vector<Reach>(input_.code.cell_count())});
  return threads_[id.value];
}

void ForwardWalk::exec(const Exec& exec) {
  segments_.clear();
  tracker_.exec(exec,
                [this](std::uint16_t step, Seq parent) { segments_.emplace_back(step, parent); });
  const Part& part = exec.shape->part;
  const CodeBlock& block = input_.code.block(exec.shape->id);
  if (part.end > block.steps.size()) return;
  while (!faults_.empty() && faults_.front() < exec.seq) faults_ = faults_.subspan(1);
  Thread& state = thread(exec.thread);
  bool begun = slice_.instances != 0 || next_criterion_ != 0;
  bool begins = next_criterion_ < criteria_.size() && criteria_[next_criterion_].seq < exec.end();
  if (!begun && !begins) {
    const Step& last = block.steps[part.end - 1];
    state.last = {exec.end() - 1, last.id, exec.thread};
    state.last_step = &last;
    return;
  }
  const std::uint64_t* length = exec.lengths;
  std::uint16_t slot = part.first_slot;
  std::size_t segment = 0;
  for (std::uint16_t i = part.first; i < part.end; ++i) {
    touched_.clear();
    for (; exec.addresses != nullptr && slot < std::min(block.steps[i].end_slot, part.end_slot);
         ++slot) {
      const Slot& access = exec.block().slots[slot];
      std::uint64_t size = access.is_range() ? *length++ : access.size;
      Addr address(exec.addresses[slot - part.first_slot]);
      if (address != kAbsent && size != 0) touched_.push_back({address, size, &access});
    }
    while (segment + 1 < segments_.size() && segments_[segment + 1].first <= i) ++segment;
    step(exec, i, segments_[segment].second, state);
  }
}

void ForwardWalk::step(const Exec& exec, std::uint16_t index, Seq parent, Thread& state) {
  const Step& step = input_.code.block(exec.shape->id).steps[index];
  Instance me{exec.seq + static_cast<std::uint64_t>(index - exec.shape->part.first), step.id,
              exec.thread};
  Hit hit;
  bool restores = step.restores && options_.save_restore;
  for (; next_criterion_ < criteria_.size() && criteria_[next_criterion_].seq <= me.seq;
       ++next_criterion_)
    if (criteria_[next_criterion_].seq == me.seq)
      begin_here(criteria_[next_criterion_], me, state, hit);
  if (options_.control) follow_decision(parent, me, hit);
  if (options_.data) {
    follow_cells(step, me, state, hit);
    if (step.flow != Flow::kReturn && !restores) follow_memory(me, hit);
  }
  Reach reach = join(hit, me);
  bool faulted = !faults_.empty() && faults_.front() == me.seq;
  if (!faulted) {
    if (step.saves) save(step, state);
    define(step, reach, state);
    if (restores) restore(step, state);
    for (const Touched& touched : touched_)
      if (touched.slot->write) set_memory(touched.address, touched.size, reach);
  }
  bool decides = exec.block().abstract() || index + 1 == exec.shape->part.end;
  remember(step, reach, decides);
  state.last = me;
  state.last_step = &step;
  state.last_reach = reach;
}

void ForwardWalk::begin_here(const Criterion& criterion, const Instance& me, Thread& state,
                             Hit& hit) {
  if (criterion.registers.empty() && criterion.memory.empty()) {
    hit = {true, 0, me, Via::kCriterion};
    return;
  }
  for (Reg reg : criterion.registers)
    for (Cell cell : input_.code.cells_of(reg)) state.cells[cell] = {me, 0};
  for (auto [address, size] : criterion.memory) memory_.set(address, size, {me, 0});
}

void ForwardWalk::follow(const Reach& reach, Via via, const Instance& me, Hit& hit) const {
  if (!reach.any()) return;
  bool remote = reach.by.thread != me.thread && via == Via::kValue;
  float distance =
      reach.distance + (remote || same_line(reach.by, me) ? 0 : static_cast<float>(weight(via)));
  if (hit.any && hit.distance <= distance) return;
  hit = {true, distance, reach.by, via};
}

void ForwardWalk::follow_decision(Seq parent, const Instance& me, Hit& hit) const {
  auto found = decisions_.find(parent.value);
  if (found == decisions_.end()) return;
  const auto& [reach, call] = found->second;
  follow(reach,
         reach.by.thread != me.thread ? Via::kSpawn
         : call                       ? Via::kCall
                                      : Via::kControl,
         me, hit);
}

void ForwardWalk::follow_cells(const Step& step, const Instance& me, const Thread& state,
                               Hit& hit) const {
  for (CellUse use : input_.code.uses(step)) {
    bool address = use.role == UseRole::kAddress;
    if (address && !options_.addresses) continue;
    follow(state.cells[use.cell], address ? Via::kAddress : Via::kValue, me, hit);
  }
}

void ForwardWalk::follow_memory(const Instance& me, Hit& hit) {
  for (const Touched& touched : touched_) {
    bool address = touched.slot->role == Role::kAddress;
    if (touched.slot->write || (address && !options_.addresses)) continue;
    read_memory(touched.address, touched.size, address ? Via::kAddress : Via::kValue, me, hit);
  }
}

void ForwardWalk::read_memory(Addr address, std::uint64_t size, Via via, const Instance& me,
                              Hit& hit) {
  auto read = [&](Addr at, unsigned length, const Reach& reach) {
    follow(reach, via, me, hit);
    if (reach.by.thread != me.thread) remote_.push_back({reach, at, length});
  };
  memory_.visit(address, size, read);
  carried_.visit(address, size, read);
}

void ForwardWalk::set_memory(Addr address, std::uint64_t size, const Reach& reach) {
  memory_.set(address, size, reach);
  carried_.forget(address, size);
}

Reach ForwardWalk::join(const Hit& hit, const Instance& me) {
  if (!hit.any || !(hit.via == Via::kCriterion || options_.scope.admits(me, hit.distance)))
    return remote_.clear(), Reach{};
  ++slice_.instances;
  if (options_.which) slice_.members.add(me.seq);
  std::uint32_t& index = item_of_[me.id.value];
  if (index == 0) {
    slice_.items.push_back({.id = me.id, .distance = hit.distance + 1});
    index = static_cast<std::uint32_t>(slice_.items.size());
  }
  SliceItem& item = slice_.items[index - 1];
  ++item.instances;
  if (std::find(item.threads.begin(), item.threads.end(), me.thread) == item.threads.end())
    item.threads.push_back(me.thread);
  note_distance(hit, me);
  add_remote_reads(me);
  return {me, hit.distance};
}

void ForwardWalk::note_distance(const Hit& hit, const Instance& me) {
  SliceItem& item = slice_.items[item_of_[me.id.value] - 1];
  if (hit.distance >= item.distance) return;
  item.distance = hit.distance;
  item.nearest = me;
  item.needed_by = hit.from;
  item.via = hit.via;
}

void ForwardWalk::add_remote_reads(const Instance& me) {
  for (const auto& [from, at, length] : remote_)
    remote_reads_.add(from.by.id.value, me.id.value, {from.by, me, at, length, from.distance, 1});
  remote_.clear();
}

void ForwardWalk::define(const Step& step, const Reach& reach, Thread& state) {
  for (CellDef def : input_.code.defs(step)) state.cells[def.cell] = def.stack ? Reach{} : reach;
}

void ForwardWalk::save(const Step& step, const Thread& state) {
  if (touched_.empty()) return;
  Saved saved;
  std::vector<Cell> cells = input_.code.cells_of(step.saved);
  for (std::size_t i = 0; i < cells.size(); ++i) saved.cells[i] = state.cells[cells[i]];
  saved_.set(touched_[0].address, touched_[0].size, saved);
}

void ForwardWalk::restore(const Step& step, Thread& state) {
  if (touched_.empty()) return;
  Saved saved = saved_.at(touched_[0].address);
  std::vector<Cell> cells = input_.code.cells_of(step.saved);
  for (std::size_t i = 0; i < cells.size(); ++i) state.cells[cells[i]] = saved.cells[i];
}

// What can be a parent: branches and calls; and, as `decides` says, statements, and what ran last
// before a thread or handler begins.
void ForwardWalk::remember(const Step& step, const Reach& reach, bool decides) {
  bool call = step.flow == Flow::kCall || step.flow == Flow::kIndirectCall;
  if (!reach.any() || !(decides || call || step.branch)) return;
  if (decisions_.size() >= most_decisions_) forget_decisions();
  decisions_[reach.by.seq.value] = {reach, call};
}

void ForwardWalk::forget_decisions() {
  std::unordered_map<std::uint64_t, Decision> open;
  tracker_.each_open([&](Seq seq) {
    auto found = decisions_.find(seq.value);
    if (found != decisions_.end()) open.insert(*found);
  });
  decisions_ = std::move(open);
  most_decisions_ = std::max(kFewDecisions, 2 * decisions_.size());
}

void ForwardWalk::event(const Event& event) {
  tracker_.event(event);
  Thread& state = thread(event.thread);
  if (const auto* access = std::get_if<KernelAccess>(&event.body)) {
    kernel(*access, state);
  } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
    system_call(call->number, state);
  } else {
    carried_.event(event, state.last_reach);
  }
  if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
    thread(create->child);
    thread(create->child).cells = thread(event.thread).cells;
  } else if (auto fresh = fresh_memory(event)) {
    const auto* made = std::get_if<Allocation>(&event.body);
    if (made == nullptr || made->function != AllocFn::kRealloc)
      set_memory(fresh->address, fresh->size, {});
  }
}

// The kernel's accesses are those of the instruction that called it.
void ForwardWalk::kernel(const KernelAccess& access, Thread& state) {
  if (access.access == Access::kWrite) {
    set_memory(access.address, access.size, state.last_reach);
    return;
  }
  if (!options_.data || state.last_step == nullptr) return;
  Hit hit;
  read_memory(access.address, access.size, Via::kValue, state.last, hit);
  join_late(hit, state);
}

void ForwardWalk::system_call(std::uint32_t number, Thread& state) {
  if (!options_.data || state.last_step == nullptr) return;
  Hit hit;
  for (Reg reg : argument_registers(number))
    for (Cell cell : input_.code.cells_of(reg))
      follow(state.cells[cell], Via::kValue, state.last, hit);
  join_late(hit, state);
}

// The thread's last instruction is known to be in the slice, or nearer, after it has run.
void ForwardWalk::join_late(const Hit& hit, Thread& state) {
  if (!hit.any) return;
  if (state.last_reach.any()) {
    add_remote_reads(state.last);
    if (hit.distance >= state.last_reach.distance) return;
    note_distance(hit, state.last);
    state.last_reach.distance = hit.distance;
  } else {
    state.last_reach = join(hit, state.last);
    if (!state.last_reach.any()) return;
  }
  define(*state.last_step, state.last_reach, state);
  remember(*state.last_step, state.last_reach, true);
}

bool ForwardWalk::same_line(const Instance& a, const Instance& b) const {
  if (input_.lines.empty() || a.thread != b.thread) return false;
  std::uint32_t line = input_.lines[a.id.value];
  return line != 0 && line == input_.lines[b.id.value] &&
         input_.control.left_out().apart(a.seq, b.seq) < kLineSpan;
}

Slice ForwardWalk::take() {
  slice_.remote_reads = remote_reads_.take();
  return std::move(slice_);
}

Slice slice_forward(const SliceInput& input, const ControlFlow& flow,
                    const std::vector<Criterion>& criteria, const SliceOptions& options,
                    Diagnostics& diagnostics, const ProgressFunction& progress) {
  ForwardWalk walk(input, flow, criteria, options);
  walk.run(diagnostics, progress);
  Slice slice = walk.take();
  put_in_order(slice);
  return slice;
}

Slice chop(const SliceInput& input, const ControlFlow& flow, const std::vector<Criterion>& from,
           const std::vector<Criterion>& to, const SliceOptions& options, Diagnostics& diagnostics,
           const ProgressFunction& progress) {
  // The limits hold for both ways; distances are from `to`.
  SliceOptions forward = options;
  forward.which = true;
  forward.scope.depth = Scope().depth;
  auto reached =
      std::make_shared<InstanceSet>(slice_forward(input, flow, from, forward, diagnostics).members);
  SliceOptions backward = options;
  backward.scope.within = std::move(reached);
  return slice_backward(input, to, backward, diagnostics, progress);
}

}  // namespace svd
