// SPDX-License-Identifier: Apache-2.0
//
// Definition. Figure 5 of the SVD paper: each instruction joins the active units of what it is
// directly true-dependent or control-dependent upon, after those of them have ended that wrote a
// shared location that it reads. Figure 6: a unit is violated when another thread's access
// conflicts with one of its own, after that and before the unit's last instruction.
//
//     thread 1: n = count          thread 2: count = 5
//               if (n > 3)         (the unit of thread 1 goes on after the conflict: reported)
//
// A location's last writer is that of the same thread. Addresses are no dependences (section 5.1:
// what is stored at queue[head] does not depend on head). Shared is what two threads access and one
// writes, within a lifetime.
//
// Algorithm. One walk. An instruction with predecessors in one unit needs no member of its own.
// Each access is kept with its location until another thread conflicts with it; the conflict is
// kept with the unit, and is a violation when the unit grows. Of the pairs that Figure 6 reports
// these are those with the first conflicting access of each access, which is enough for each place
// in the code; accesses of a unit from one place to one location are kept once.
//
// Cost: some operations for each instruction; what units.h says for each unit.

#include "detectors/paper_two_phase.h"

#include <algorithm>

#include "detectors/scan.h"

namespace svd {

void PaperTwoPhase::prepare(const Preparation& run) {
  const ControlFlow& flow = run.flow.get();
  code_ = &run.code.get();
  tracker_.emplace(*code_, flow);
  tracker_->set_statements(run.trace.statements());
  abstract_ = !run.trace.statements().empty();
  for (Thread& thread : threads_) thread.cells.resize(code_->cell_count());
}

void PaperTwoPhase::fresh(Addr address, std::uint64_t size) {
  shadow_.clear(address, size);
  for (Thread& thread : threads_) thread.memory.clear(address, size);
  heard_fresh(address, size);
}

void PaperTwoPhase::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  // What the kernel did is no instruction of any unit, but it conflicts.
  std::size_t outside = 0;
  for (; outside < pending_.size() && pending_[outside].moment < first; ++outside)
    if (pending_[outside].shared) remember(pending_[outside], 0);
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(outside));
  segments_.clear();
  tracker_->exec(exec,
                 [this](std::uint16_t at, Seq parent) { segments_.emplace_back(at, parent); });
  const Part& part = exec.shape->part;
  Seq parent = kNoParent;
  auto segment = segments_.begin();
  for (std::uint16_t i = part.first;
       i < part.end && part.end <= code_->block(exec.shape->id).steps.size(); ++i) {
    for (; segment != segments_.end() && segment->first == i; ++segment) parent = segment->second;
    step(exec, thread.value, i, parent, first + static_cast<std::uint64_t>(i - part.first));
  }
  pending_.clear();
}

// The accesses of the block's slots stand in pending_ by moment; those that are not the user's are
// missing there.
void PaperTwoPhase::step(const Exec& exec, std::size_t thread, std::uint16_t index, Seq parent,
                         Moment moment) {
  const Step& step = code_->block(exec.shape->id).steps[index];
  const Part& part = exec.shape->part;
  Thread& state = threads_[thread];
  predecessors_.clear();
  cut_.clear();
  auto add = [&](UnitMember member) {
    if (member == 0) return;
    (units_.active(member, thread) ? predecessors_ : cut_).push_back(member);
  };
  for (CellUse use : code_->uses(step))
    if (use.role != UseRole::kAddress) add(state.cells[use.cell]);
  bool resumed = part.first_slot > step.first_slot && part.first_slot < step.end_slot;
  if (resumed) std::for_each(state.carried.begin(), state.carried.end(), add);
  add(branch(state, parent));
  auto slots = [&](auto&& f) {
    exec.accesses([&](const MemoryAccess& memory) {
      if (memory.slot->instruction == index) f(memory);
    });
  };
  slots([&](const MemoryAccess& memory) {
    bool value = !memory.slot->write && memory.slot->role != Role::kAddress;
    if (value && step.flow != Flow::kReturn)
      state.memory.visit(memory.address, memory.size,
                         [&](Addr, unsigned, UnitMember writer) { add(writer); });
  });
  auto touches = std::pair(std::find_if(pending_.begin(), pending_.end(),
                                        [&](const Touch& t) { return t.moment >= moment; }),
                           std::find_if(pending_.begin(), pending_.end(),
                                        [&](const Touch& t) { return t.moment > moment; }));
  for (auto t = touches.first; t != touches.second; ++t)
    if (!t->writes() && t->shared) cut(thread, *t);
  for (UnitMember member : predecessors_)
    if (units_.active(member, thread)) report(member, moment, thread);
  UnitMember unit = join(thread);
  Seq seq = exec.seq + static_cast<std::uint64_t>(index - part.first);
  this->part(exec, thread, seq, unit);
  heard(unit, cut_);
  heard(unit, predecessors_);
  for (CellDef def : code_->defs(step)) state.cells[def.cell] = def.stack ? 0 : unit;
  slots([&](const MemoryAccess& memory) {
    if (memory.slot->write) state.memory.set(memory.address, memory.size, unit);
  });
  for (auto t = touches.first; t != touches.second; ++t)
    if (t->shared) remember(*t, unit);
  state.carried.clear();
  if (step.end_slot > part.end_slot) state.carried.push_back(unit);
  if (step.branch || abstract_) {
    // A loop's next round takes the place of the one before.
    Branch branch{seq, step.post_dominator, unit};
    bool next_round = !abstract_ && !state.branches.empty() &&
                      state.branches.back().seq == parent &&
                      state.branches.back().end == step.post_dominator;
    if (next_round) state.branches.pop_back();
    state.branches.push_back(branch);
  }
}

// The unit of the branch that decided: the last one that is not after the parent.
UnitMember PaperTwoPhase::branch(Thread& thread, Seq parent) const {
  if (parent == kNoParent) return 0;
  std::vector<Branch>& branches = thread.branches;
  auto after = std::upper_bound(branches.begin(), branches.end(), parent,
                                [](Seq seq, const Branch& b) { return seq < b.seq; });
  // Conditions of machine code lie within each other: what came later is over.
  if (!abstract_) branches.erase(after, branches.end()), after = branches.end();
  return after == branches.begin() ? 0 : std::prev(after)->unit;
}

// Lines 4 to 9 of Figure 5.
void PaperTwoPhase::cut(std::size_t thread, const Touch& read) {
  shadow_.visit(read.address, read.size, [&](Cell& cell, Addr, std::uint64_t) {
    for (auto [writer, unit] : cell.writers) {
      if (writer != thread || !units_.active(unit, thread)) continue;
      bool before = std::any_of(predecessors_.begin(), predecessors_.end(),
                                [&, u = unit](auto p) { return units_.same(p, u); });
      if (before) units_.end(unit);
    }
  });
}

// Lines 10 to 14.
UnitMember PaperTwoPhase::join(std::size_t thread) {
  UnitMember unit = 0;
  for (UnitMember member : predecessors_) {
    if (!units_.active(member, thread)) continue;
    unit = unit == 0 ? units_.of_member(member) : units_.merge(unit, member);
  }
  return unit == 0 ? units_.begin(thread) : unit;
}

void PaperTwoPhase::remember(const Touch& access, UnitMember unit) {
  std::size_t thread = access.thread.value;
  if (unit != 0) heard(unit, access);
  shadow_.touch(access.address, access.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    std::erase_if(cell.accesses, [&](Access& earlier) {
      if (!units_.active(earlier.unit, earlier.mark.thread)) return true;
      bool writes = earlier.mark.kind != static_cast<std::uint32_t>(TouchKind::kRead);
      if (earlier.mark.is(access.thread) || !(writes || access.writes())) return false;
      conflict(earlier, access, unit, at, size);
      return true;
    });
    if (unit == 0) return;
    Mark mark(access);
    bool known = std::any_of(cell.accesses.begin(), cell.accesses.end(), [&](const Access& other) {
      return other.mark.site == mark.site && other.mark.kind == mark.kind &&
             other.mark.thread == mark.thread && units_.same(other.unit, unit);
    });
    if (!known) cell.accesses.push_back({mark, unit});
    if (!access.writes()) return;
    std::erase_if(cell.writers, [&](const auto& writer) {
      return !units_.active(writer.second, writer.first) ||
             (writer.first == thread && units_.same(writer.second, unit));
    });
    cell.writers.emplace_back(static_cast<std::uint16_t>(thread), unit);
  });
}

void PaperTwoPhase::conflict(const Access& earlier, const Touch& by, UnitMember unit, Addr address,
                             std::uint64_t size) {
  std::uint32_t last = units_.first_remark(earlier.unit);
  bool same_pair = last != 0 && conflicts_[last].first.moment == earlier.mark.moment &&
                   conflicts_[last].remote.moment == by.moment.value;
  if (same_pair) return;  // of other bytes
  units_.remark(earlier.unit);
  conflicts_.push_back({earlier.mark, Mark(by), {earlier.unit, unit}, address, size});
}

// The unit goes on. What was told stands behind what was not.
void PaperTwoPhase::report(UnitMember unit, Moment moment, std::size_t thread) {
  for (std::uint32_t remark = units_.first_remark(unit); remark != 0;
       remark = units_.next_remark(remark)) {
    Conflict& conflict = conflicts_[remark];
    if (std::exchange(conflict.told, true)) return;
    std::uint64_t key = (std::uint64_t{conflict.first.site} << 2 | conflict.first.kind) << 32 |
                        (std::uint64_t{conflict.remote.site} << 2 | conflict.remote.kind);
    RawFinding& finding = found_[key];
    finding.happened(
        {Moment(conflict.first.moment), Moment(conflict.remote.moment), conflict.address},
        conflict.units);
    if (finding.occurrences > 1) continue;
    finding.detector = name_;
    RawAccess second("local-second", moment);
    second.thread = ThreadIndex(static_cast<std::uint16_t>(thread));
    finding.accesses = {RawAccess("local-first", conflict.first, conflict.address, conflict.size),
                        RawAccess("remote", conflict.remote, conflict.address, conflict.size),
                        second};
  }
}

std::vector<RawFinding> PaperTwoPhase::findings() {
  std::vector<RawFinding> found;
  for (const auto& [key, finding] : found_) found.push_back(finding);
  std::sort(found.begin(), found.end(), [](const RawFinding& a, const RawFinding& b) {
    return a.accesses[0].moment < b.accesses[0].moment;
  });
  return found;
}

}  // namespace svd
