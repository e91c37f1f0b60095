// SPDX-License-Identifier: Apache-2.0
//
// Definition (SVD, sections 4.2 and 4.3). Each thread has for each block of memory a computational
// unit and a state; each register has a set of units.
//
//     load          if the state is Stored_Shared its unit ends; the block joins the read set of
//                   its unit, which is what the register has then
//     computation   the union of what the operands have
//     store         checked are the units of the data, of the address and of open branches: if
//                   another thread conflicted with a block of their read sets, that is a violation.
//                   Then the units of the data become one, and the block has that
//     branch        the units of the condition are kept until control comes together (skipper.h)
//     the access    of another thread, to a block in state True_Dep: its unit ends
//
//                 Idle     Loaded         Loaded_Shared  Stored         Stored_Shared  True_Dep
//     load        Loaded   .              .              True_Dep       (end) Loaded   .
//     store       Stored   Stored         Stored_Shared  .              .              .
//     another's   .        Loaded_Shared  .              Stored_Shared  .              (end) Idle
//
// When a unit ends all its blocks become Idle, and nothing follows from it any more.
//
//     thread 1: n = count          count: Loaded
//     thread 2: count = 5          thread 1 has count in Loaded_Shared, with a conflict
//     thread 1: count = n + 1      a violation
//
// What the paper leaves open. Threads are threads here, not processors. A block that belongs to no
// unit gets one of its own when it is loaded. A conflict is a write by another thread to what was
// loaded or stored, or its read of what was stored, and lasts until the block is Idle again; it is
// told once for each unit. An access to several blocks is one to each. What the suppressions leave
// out (suppressions.h) is loaded and stored as all else, but no other thread hears of it. Addresses
// are not followed through loads (Figure 7), and where calls return to is no data. The conditions
// of statements are those that the trace says. A register that follows from more than 32 units
// makes them one (tag_sets.h).
//
// How it is fast: what a block does to registers is worked out once (online_plan.h); memory and
// units are in online_memory.h.
//
// Cost: some operations for each access and each union; 24 to 60 bytes for each 4 bytes of memory
// and thread that accesses them, as the paper's grows with the memory that the program touches (24
// where no other thread does); 12 bytes, and those of units.h, for each unit that ever began.

#include "detectors/online.h"

#include <algorithm>

namespace svd {

void OnlineDetector::prepare(const Preparation& run) {
  code_ = &run.code.get();
  abstract_ = !run.trace.statements().empty();
  if (abstract_) {
    tracker_.emplace(*code_, run.flow.get());
    tracker_->set_statements(run.trace.statements());
  }
  skipper_ = Skipper(run.trace);
  plans_.emplace(*code_, skipper_);
  memory_.expect(std::move(*run.accessors));
}

void OnlineDetector::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  if (sets_.crowded()) forget_sets();
  if (memory_.crowded()) forget_units();
  // What the kernel did for a thread others hear of.
  for (next_ = 0; next_ < pending_.size() && pending_[next_].moment < first; ++next_)
    memory_.remote(pending_[next_]);
  thread_ = thread.value;
  next_segment_ = 0;
  segments_.clear();
  if (abstract_) {
    tracker_->exec(exec,
                   [this](std::uint16_t at, Seq parent) { segments_.emplace_back(at, parent); });
  }
  std::span<const PlannedOp> plan = plans_->of(*exec.shape);
  Thread& state = threads_[thread_];
  if (state.values.size() < plans_->values()) state.values.resize(plans_->values());
  run(plan, exec, state, first);
  pending_.clear();
}

void OnlineDetector::run(std::span<const PlannedOp> plan, const Exec& exec, Thread& state,
                         Moment first) {
  TagSet* values = state.values.data();
  for (const PlannedOp& op : plan) {
    switch (op.kind) {
      case PlannedOp::kUnite:
        values[op.into] = sets_.unite(values[op.a], values[op.b], thread_);
        break;
      case PlannedOp::kLoad:
        values[op.into] = values[op.a];
        access(op, exec, state, first);
        break;
      case PlannedOp::kCheck:
        if (memory_.any_conflicts(thread_)) check(op, exec, values[op.a], first);
        break;
      case PlannedOp::kStore:
      case PlannedOp::kTransfer:
        access(op, exec, state, first);
        break;
      case PlannedOp::kMeet:
        state.branches.at(op.place);
        break;
      case PlannedOp::kBranch:
        state.branches.push(values[op.a], op.place);
        break;
      case PlannedOp::kBegin:
        begin(op.step, state);
        break;
      case PlannedOp::kDecide:
        state.statements.decide(
            exec.seq + static_cast<std::uint64_t>(op.step - exec.shape->part.first), Pc(), Pc(),
            values[op.a]);
        break;
      case PlannedOp::kWrite:
        values[op.into] = values[op.a];
        break;
    }
  }
}

// A step of an abstract trace.
void OnlineDetector::begin(std::uint16_t step, Thread& state) {
  for (; next_segment_ < segments_.size() && segments_[next_segment_].first == step;
       ++next_segment_)
    state.statements.at(segments_[next_segment_].second);
}

inline void OnlineDetector::access(const PlannedOp& op, const Exec& exec, Thread& state,
                                   Moment first) {
  const Part& part = exec.shape->part;
  const Slot& slot = exec.block().slots[part.first_slot + op.access];
  Addr address(exec.addresses[op.access]);
  if (address == kAbsent) return;
  std::uint64_t size = slot.is_range() ? exec.lengths[op.range] : slot.size;
  Moment moment = first + static_cast<std::uint64_t>(op.step - part.first);
  const Touch* told = touch(moment, address, slot.write);
  if (size == 0) return;
  if (op.kind == PlannedOp::kTransfer) {
    if (told != nullptr) memory_.remote(*told);
  } else if (!slot.write) {
    load(address, size, told, state.values[op.into]);
  } else {
    if (memory_.any_conflicts(thread_)) check_branches(state, moment);
    store(address, size, told, state.values[op.a]);
  }
}

void OnlineDetector::load(Addr address, std::uint64_t size, const Touch* told, TagSet& into) {
  std::uint64_t last = (address.value + size - 1) / OnlineMemory::kBlock;
  for (std::uint64_t block = address.value / OnlineMemory::kBlock; block <= last; ++block)
    into = sets_.unite(into, TagSets::of(memory_.load(thread_, block, told)), thread_);
}

void OnlineDetector::store(Addr address, std::uint64_t size, const Touch* told, TagSet data) {
  UnitMember unit = 0;
  sets_.each(data, [&](UnitMember member) {
    UnitMember active = memory_.units().if_active(member, thread_);
    if (active != 0) unit = unit == 0 ? active : memory_.join(unit, active);
  });
  if (unit == 0) unit = memory_.begin(thread_);
  std::uint64_t last = (address.value + size - 1) / OnlineMemory::kBlock;
  for (std::uint64_t block = address.value / OnlineMemory::kBlock; block <= last; ++block)
    memory_.store(thread_, block, told, unit);
}

// The access as detectors are told of it; null: it is left out.
const Touch* OnlineDetector::touch(Moment moment, Addr address, bool write) {
  while (next_ < pending_.size() && pending_[next_].moment < moment) ++next_;
  if (next_ == pending_.size()) return nullptr;
  const Touch& next = pending_[next_];
  if (next.moment != moment || next.address != address || next.writes() != write) return nullptr;
  return &pending_[next_++];
}

// Lines 17 and 18, of what a store and its address follow from, unless it does not happen …
void OnlineDetector::check(const PlannedOp& op, const Exec& exec, TagSet set, Moment first) {
  const Part& part = exec.shape->part;
  const Slot& slot = exec.block().slots[part.first_slot + op.access];
  if (exec.addresses[op.access] == kAbsent.value) return;
  if (slot.is_range() && exec.lengths[op.range] == 0) return;
  check(set, first + static_cast<std::uint64_t>(op.step - part.first));
}

// … and of open branches.
void OnlineDetector::check_branches(Thread& state, Moment store) {
  auto condition = [&](TagSet set) {
    check(set, store);
    return true;
  };
  if (abstract_) {
    state.statements.each(condition);
  } else {
    state.branches.each_since(memory_.news(thread_), condition);
  }
}

void OnlineDetector::check(TagSet set, Moment store) {
  Checked& checked = checked_[set.word % checked_.size()];
  if (checked.set == set && checked.news == memory_.news(thread_)) return;
  checked = {set, memory_.news(thread_)};
  sets_.each(set, [&](UnitMember member) {
    memory_.take_conflicts(
        member, [&](const OnlineMemory::Conflict& conflict) { report(conflict, store); });
  });
}

// Calls f(TagSet&) for every set that somebody has. What plans make nobody has between executions.
template <class F>
void OnlineDetector::each_held(F&& f) {
  auto cells = static_cast<std::ptrdiff_t>(code_->cell_count());
  for (Thread& thread : threads_) {
    if (!thread.values.empty())
      std::for_each(thread.values.begin(), thread.values.begin() + cells, f);
    thread.branches.update(f);
    thread.statements.update(f);
  }
}

void OnlineDetector::forget_sets() {
  sets_.forget_but([this](auto&& rename) { each_held(rename); });
  checked_.fill({});
}

void OnlineDetector::forget_units() {
  std::vector<UnitMember> held;
  each_held(
      [&](TagSet set) { sets_.each(set, [&](UnitMember member) { held.push_back(member); }); });
  memory_.forget_units(std::move(held));
}

void OnlineDetector::report(const OnlineMemory::Conflict& conflict, Moment store) {
  const Mark &local = conflict.local, &remote = conflict.remote;
  std::uint64_t key = (std::uint64_t{local.site} << 2 | local.kind) << 32 |
                      (std::uint64_t{remote.site} << 2 | remote.kind);
  Found& found = found_[key];
  if (found.finding.occurrences++ != 0) return;
  found.view = conflict.view;
  found.finding.detector = name_;
  RawAccess second("local-second", store);
  second.thread = ThreadIndex(static_cast<std::uint16_t>(local.thread));
  found.finding.accesses = {RawAccess("local-first", local, Addr(), OnlineMemory::kBlock),
                            RawAccess("remote", remote, Addr(), OnlineMemory::kBlock), second};
}

std::vector<RawFinding> OnlineDetector::findings() {
  std::vector<OnlineMemory::ViewIndex> views;
  for (const auto& [key, found] : found_) views.push_back(found.view);
  auto addresses = memory_.addresses(views);
  std::vector<RawFinding> all;
  for (const auto& [key, found] : found_) {
    RawFinding& finding = all.emplace_back(found.finding);
    finding.accesses[0].address = finding.accesses[1].address = addresses[found.view];
  }
  std::sort(all.begin(), all.end(), [](const RawFinding& a, const RawFinding& b) {
    return a.accesses[2].moment < b.accesses[2].moment;
  });
  return all;
}

}  // namespace svd
