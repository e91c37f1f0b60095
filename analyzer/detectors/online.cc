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
// Cost: some operations for each instruction; some 50 bytes for each 4 bytes of memory and thread
// that accesses them, as the paper's grows with the memory that the program touches; 8 bytes for
// each unit that ever began.

#include "detectors/online.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace svd {

void OnlineDetector::prepare(const Preparation& run) {
  code_ = &run.code.get();
  abstract_ = !run.trace.statements().empty();
  if (abstract_) {
    tracker_.emplace(*code_, run.flow.get());
    tracker_->set_statements(run.trace.statements());
  }
  skipper_ = Skipper(run.trace);
  for (Thread& thread : threads_) thread.cells.resize(code_->cell_count());
}

// 0: the branch is not looked at.
Pc OnlineDetector::reconvergence(BlockId block, std::size_t index) {
  if (reconvergence_.size() <= block.value) reconvergence_.resize(block.value + std::size_t{1});
  std::vector<Pc>& known = reconvergence_[block.value];
  if (known.empty()) {
    for (const Step& step : code_->block(block).steps)
      known.push_back(skipper_.reconvergence(step.pc).value_or(Pc()));
  }
  return known[index];
}

OnlineDetector::ViewIndex& OnlineDetector::first_view(BlockNumber block) {
  std::uint64_t number = block / kPageBlocks;
  if (number != last_page_) {
    page_ = &pages_.make(number);
    last_page_ = number;
  }
  return (*page_)[block % kPageBlocks];
}

OnlineDetector::ViewIndex OnlineDetector::view(std::size_t thread, BlockNumber block) {
  ViewIndex& first = first_view(block);
  for (ViewIndex at = first; at != 0; at = views_[at].next)
    if (views_[at].local.thread == thread) return at;
  views_.push_back(View(thread, std::exchange(first, static_cast<ViewIndex>(views_.size()))));
  return first;
}

void OnlineDetector::accessed(View& view, const Mark& mark) {
  bool store = mark.kind != static_cast<std::uint32_t>(TouchKind::kRead);
  if (mark.moment == 0 || !(view.heard != 0 || store) || conflict(view) != 0) return;
  view.local = mark;
  view.heard = 0;
}

OnlineDetector::Rare& OnlineDetector::rare(View& view) {
  if (view.rare == 0 && free_rares_.empty()) {
    view.rare = static_cast<RareIndex>(rares_.size());
    rares_.push_back({});
  } else if (view.rare == 0) {
    view.rare = free_rares_.back();
    free_rares_.pop_back();
  }
  return rares_[view.rare];
}

void OnlineDetector::make_idle(View& view) {
  view.state = State::kIdle;
  view.shared = 0;
  if (view.rare == 0) return;
  Rare& rare = rares_[view.rare];
  rare.remote = Mark();
  if (!rare.readers) free_rares_.push_back(std::exchange(view.rare, 0));
}

// New memory is Idle for all. Views stay, because units name them.
void OnlineDetector::fresh(Addr address, std::uint64_t size) {
  BlockNumber first = address.value / kBlock;
  BlockNumber last = (address.value + size - 1) / kBlock;
  auto clear = [&](std::uint64_t number, Page& page) {
    BlockNumber begin = number * kPageBlocks;
    BlockNumber end = std::min(begin + kPageBlocks - 1, last);
    for (BlockNumber block = std::max(begin, first); block <= end; ++block) {
      for (ViewIndex at = page[block - begin]; at != 0; at = views_[at].next) {
        View& view = views_[at];
        if (view.rare != 0) rares_[view.rare].readers.reset();
        make_idle(view);
        view = View(view.local.thread, view.next);
      }
    }
  };
  if (last / kPageBlocks - first / kPageBlocks < pages_.size()) {
    for (std::uint64_t number = first / kPageBlocks; number <= last / kPageBlocks; ++number)
      if (Page* page = pages_.find(number)) clear(number, *page);
  } else {
    pages_.each([&](std::uint64_t number, Page& page) {
      if (number >= first / kPageBlocks && number <= last / kPageBlocks) clear(number, page);
    });
  }
}

void OnlineDetector::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  if (sets_.crowded()) forget_sets();
  if (used_nodes_ > most_nodes_) forget_units();
  // What the kernel did for a thread others hear of.
  for (next_ = 0; next_ < pending_.size() && pending_[next_].moment < first; ++next_)
    remote(pending_[next_]);
  memories_.clear();
  exec.accesses([this](const MemoryAccess& memory) {
    // Others' views of the block are looked at, too; mostly the first one is one's own.
    __builtin_prefetch(&views_[first_view(memory.address.value / kBlock)]);
    memories_.push_back(memory);
  });
  next_memory_ = 0;
  segments_.clear();
  if (abstract_) {
    tracker_->exec(exec,
                   [this](std::uint16_t at, Seq parent) { segments_.emplace_back(at, parent); });
  }
  auto segment = segments_.begin();
  const Part& part = exec.shape->part;
  const std::vector<Step>& steps = code_->block(exec.shape->id).steps;
  for (std::uint16_t i = part.first; i < part.end && part.end <= steps.size(); ++i) {
    for (; segment != segments_.end() && segment->first == i; ++segment)
      threads_[thread.value].statements.at(segment->second);
    step(exec, steps[i], thread.value, i, first + static_cast<std::uint64_t>(i - part.first));
  }
  pending_.clear();
}

void OnlineDetector::step(const Exec& exec, const Step& step, std::size_t thread,
                          std::uint16_t index, Moment moment) {
  Thread& state = threads_[thread];
  state.branches.at(step.pc);
  Operands operands;
  auto add = [&](TagSet& into, TagSet set) { into = sets_.unite(into, set, thread); };
  for (CellUse use : code_->uses(step)) {
    bool condition = use.role == UseRole::kCondition && step.branch;
    add(use.role == UseRole::kAddress ? operands.address
        : condition                   ? operands.condition
                                      : operands.data,
        state.cells[use.cell]);
  }
  // Where calls return to is no data.
  bool transfers =
      step.flow == Flow::kCall || step.flow == Flow::kIndirectCall || step.flow == Flow::kReturn;
  bool checked = false;
  for (; next_memory_ < memories_.size() && memories_[next_memory_].slot->instruction == index;
       ++next_memory_) {
    const MemoryAccess& memory = memories_[next_memory_];
    const Touch* told = touch(moment, memory.address, memory.slot->write);
    if (memory.size == 0) continue;
    if (!transfers && memory.slot->write && !std::exchange(checked, true))
      check(thread, operands, moment);
    if (!transfers) access(thread, memory, told != nullptr ? Mark(*told) : Mark(), operands);
    if (told != nullptr) remote(*told);
  }
  for (CellDef def : code_->defs(step))
    state.cells[def.cell] = def.stack ? TagSet{} : operands.data;
  if (abstract_) {
    state.statements.decide(exec.seq + static_cast<std::uint64_t>(index - exec.shape->part.first),
                            step.pc, step.pc,
                            sets_.unite(operands.data, operands.condition, thread));
  } else if (step.flow == Flow::kBranch) {
    Pc end = reconvergence(exec.shape->id, index);
    if (end != Pc()) state.branches.push(operands.condition, end);
  }
}

void OnlineDetector::access(std::size_t thread, const MemoryAccess& memory, const Mark& mark,
                            Operands& operands) {
  TagSet& into = memory.slot->role == Role::kAddress     ? operands.address
                 : memory.slot->role == Role::kCondition ? operands.condition
                                                         : operands.data;
  UnitMember unit = memory.slot->write ? merge(thread, operands.data) : 0;
  BlockNumber last = (memory.address.value + memory.size - 1) / kBlock;
  for (BlockNumber block = memory.address.value / kBlock; block <= last; ++block) {
    if (memory.slot->write) {
      store(thread, block, mark, unit);
    } else {
      load(thread, block, mark, into);
    }
  }
}

// The access as detectors are told of it; null: it is left out.
const Touch* OnlineDetector::touch(Moment moment, Addr address, bool write) {
  while (next_ < pending_.size() && pending_[next_].moment < moment) ++next_;
  if (next_ == pending_.size()) return nullptr;
  const Touch& next = pending_[next_];
  if (next.moment != moment || next.address != address || next.writes() != write) return nullptr;
  return &pending_[next_++];
}

// Lines 4 to 9 of Figure 7.
void OnlineDetector::load(std::size_t thread, BlockNumber block, const Mark& mark, TagSet& into) {
  ViewIndex at = view(thread, block);
  View& own = views_[at];
  if (own.state == State::kStored && own.shared != 0) deactivate(thread, own.cu);
  if (own.cu == 0 || !units_.active(own.cu, thread)) own.cu = begin(thread) & kMembers;
  reads(own.cu, at, block);
  if (own.state == State::kIdle) own.state = State::kLoaded;
  if (own.state == State::kStored) own.state = State::kTrueDep;
  accessed(own, mark);
  into = sets_.unite(into, TagSets::of(own.cu), thread);
}

// The block is in the unit's read set from here on.
void OnlineDetector::reads(UnitMember unit, ViewIndex at, BlockNumber block) {
  View& view = views_[at];
  if (view.reader != 0 && units_.same(view.reader, unit)) return;
  if (view.reader != 0 && units_.active(view.reader, view.local.thread)) {
    std::unique_ptr<std::vector<UnitMember>>& others = rare(view).readers;
    if (!others) others = std::make_unique<std::vector<UnitMember>>();
    if (others->size() == others->capacity()) {
      find_readers(view);
      *others = readers_;
      others->reserve(2 * readers_.size() + 1);
    }
    others->push_back(view.reader);
  }
  view.reader = unit & kMembers;
  add(unit, at);
  if (conflict(view) != 0) add_conflict(unit, at, block);
}

// In readers_: each once, and those that have ended not at all.
void OnlineDetector::find_readers(const View& view) {
  readers_.clear();
  auto find = [&](UnitMember reader) {
    if (reader != 0 && units_.active(reader, view.local.thread))
      readers_.push_back(units_.of_member(reader));
  };
  find(view.reader);
  if (const auto& others = rares_[view.rare].readers)
    std::for_each(others->begin(), others->end(), find);
  std::sort(readers_.begin(), readers_.end());
  readers_.erase(std::unique(readers_.begin(), readers_.end()), readers_.end());
}

// Lines 20 and 21.
void OnlineDetector::store(std::size_t thread, BlockNumber block, const Mark& mark,
                           UnitMember unit) {
  ViewIndex at = view(thread, block);
  View& own = views_[at];
  if (own.cu == 0 || !units_.same(own.cu, unit)) add(unit, at);
  own.cu = unit & kMembers;
  if (own.state != State::kTrueDep) own.state = State::kStored;
  accessed(own, mark);
}

UnitMember OnlineDetector::begin(std::size_t thread) {
  if (units_.members() > kMembers) throw std::length_error("svd-online: more than 10^9 units");
  all_units_.push_back({});
  return units_.begin(thread);
}

// merge_and_update, of two.
UnitMember OnlineDetector::join(UnitMember a, UnitMember b) {
  a = units_.of_member(a);
  b = units_.of_member(b);
  UnitMember all = units_.merge(a, b);
  if (a == b) return all;
  UnitMember other = all == a ? b : a;
  Unit &into = all_units_[all], &from = all_units_[other];
  if (into.last != 0 && from.last != 0) std::swap(nodes_[into.last].next, nodes_[from.last].next);
  if (into.last == 0) into.last = from.last;
  from.last = 0;
  if (from.conflicted != 0) {
    std::vector<Conflict> conflicts = take_conflicts(other);
    std::vector<Conflict>& both = conflicts_[all];
    both.insert(both.end(), conflicts.begin(), conflicts.end());
    into.conflicted = 1;
  }
  if (into.conflicted != 0) ++news_;
  return all;
}

UnitMember OnlineDetector::merge(std::size_t thread, TagSet data) {
  UnitMember all = 0;
  sets_.each(data, [&](UnitMember member) {
    if (units_.active(member, thread))
      all = all == 0 ? units_.of_member(member) : join(all, member);
  });
  return all != 0 ? all : begin(thread);
}

void OnlineDetector::add(UnitMember unit, ViewIndex view) {
  Unit& all = all_units_[units_.of_member(unit)];
  NodeIndex node = free_nodes_;
  if (node != 0) {
    free_nodes_ = nodes_[node].next;
  } else {
    node = static_cast<NodeIndex>(nodes_.size());
    nodes_.push_back({});
  }
  ++used_nodes_;
  nodes_[node] = {view, all.last == 0 ? node : std::exchange(nodes_[all.last].next, node)};
  all.last = node & kNodes;
}

void OnlineDetector::deactivate(std::size_t thread, UnitMember member) {
  UnitMember stands = units_.of_member(member);
  units_.end(stands);
  if (all_units_[stands].conflicted != 0) take_conflicts(stands);
  take_views(all_units_[stands], [&](ViewIndex at) {
    View& own = views_[at];
    make_idle(own);
    if (own.cu != 0 && !units_.active(own.cu, thread)) own.cu = 0;
  });
}

// The unit has none then.
template <class F>
void OnlineDetector::take_views(Unit& unit, F&& f) {
  if (unit.last == 0) return;
  NodeIndex last = unit.last;
  unit.last = 0;
  for (NodeIndex node = nodes_[last].next;; node = nodes_[node].next) {
    f(nodes_[node].view);
    --used_nodes_;
    if (node == last) break;
  }
  free_nodes_ = std::exchange(nodes_[last].next, free_nodes_);
}

// Lines 29 to 32, for each other thread.
void OnlineDetector::remote(const Touch& access) {
  BlockNumber last = (access.address.value + access.size - 1) / kBlock;
  for (BlockNumber block = access.address.value / kBlock; block <= last; ++block) {
    for (ViewIndex at = first_view(block); at != 0; at = views_[at].next)
      if (views_[at].local.thread != access.thread.value) remote(at, block, access);
  }
}

void OnlineDetector::remote(ViewIndex at, BlockNumber block, const Touch& access) {
  View& view = views_[at];
  if (view.state == State::kTrueDep) {
    view.heard = 1;
    return deactivate(view.local.thread, view.cu);
  }
  bool conflicts = view.state == State::kStored || (access.writes() && view.state != State::kIdle);
  if (view.state != State::kIdle) view.shared = 1;
  if (conflict(view) != 0) return;
  view.heard = 1;
  if (!conflicts || view.local.moment == 0) return;
  rare(view).remote = Mark(access);
  find_readers(view);
  for (UnitMember reader : readers_) add_conflict(reader, at, block);
}

void OnlineDetector::add_conflict(UnitMember unit, ViewIndex view, BlockNumber block) {
  UnitMember stands = units_.of_member(unit);
  all_units_[stands].conflicted = 1;
  conflicts_[stands].push_back({block, view, conflict(views_[view])});
  ++news_;
}

std::vector<OnlineDetector::Conflict> OnlineDetector::take_conflicts(UnitMember stands) {
  all_units_[stands].conflicted = 0;
  return std::move(conflicts_.extract(stands).mapped());
}

// Lines 17 and 18.
void OnlineDetector::check(std::size_t thread, const Operands& operands, Moment store) {
  if (conflicts_.empty()) return;
  check(thread, operands.data, store);
  check(thread, operands.address, store);
  auto condition = [&](TagSet set) {
    check(thread, set, store);
    return true;
  };
  if (abstract_) {
    threads_[thread].statements.each(condition);
  } else {
    threads_[thread].branches.each_since(news_, condition);
  }
}

void OnlineDetector::check(std::size_t thread, TagSet set, Moment store) {
  sets_.each(set, [&](UnitMember member) {
    UnitMember stands = units_.of_member(member);
    if (all_units_[stands].conflicted == 0) return;
    for (const Conflict& found : take_conflicts(stands)) {
      const View& own = views_[found.view];
      if (conflict(own) == found.moment) report(thread, own, found.block, store);
    }
  });
}

// Calls f(TagSet&) for every set that somebody has.
template <class F>
void OnlineDetector::each_held(F&& f) {
  for (Thread& thread : threads_) {
    std::for_each(thread.cells.begin(), thread.cells.end(), f);
    thread.branches.update(f);
    thread.statements.update(f);
  }
}

void OnlineDetector::forget_sets() {
  sets_.forget_but([this](auto&& rename) { each_held(rename); });
}

// A unit that no block belongs to and no register or condition follows from can do nothing any
// more: its read and write sets are forgotten. Those of others are made short.
void OnlineDetector::forget_units() {
  std::vector<bool> needed(units_.members());
  auto need = [&](UnitMember member) { needed[units_.of_member(member)] = true; };
  views_.each([&](const View& view) { need(view.cu); });
  each_held([&](TagSet set) { sets_.each(set, need); });
  std::vector<ViewIndex> kept;
  std::vector<UnitMember> kept_for(views_.size());  // of each view the last unit
  for (UnitMember unit = 1; unit < units_.members(); ++unit) {
    kept.clear();
    take_views(all_units_[unit], [&](ViewIndex view) {
      if (needed[unit] && std::exchange(kept_for[view], unit) != unit) kept.push_back(view);
    });
    if (!needed[unit] && all_units_[unit].conflicted != 0) take_conflicts(unit);
    for (ViewIndex view : kept) add(unit, view);
  }
  for (ViewIndex at = 1; at < views_.size(); ++at) forget_readers(views_[at], needed);
  most_nodes_ = 2 * used_nodes_ + least_nodes_ + units_.members() / 8;
}

void OnlineDetector::forget_readers(View& view, const std::vector<bool>& needed) {
  auto forgotten = [&](UnitMember reader) { return !needed[units_.of_member(reader)]; };
  if (view.reader != 0 && forgotten(view.reader)) view.reader = 0;
  Rare& rare = rares_[view.rare];
  if (!rare.readers) return;
  std::erase_if(*rare.readers, forgotten);
  if (!rare.readers->empty()) return;
  rare.readers.reset();
  if (rare.remote.moment == 0) free_rares_.push_back(std::exchange(view.rare, 0));
}

void OnlineDetector::report(std::size_t thread, const View& view, BlockNumber block, Moment store) {
  const Mark& remote = rares_[view.rare].remote;
  std::uint64_t key = (std::uint64_t{view.local.site} << 2 | view.local.kind) << 32 |
                      (std::uint64_t{remote.site} << 2 | remote.kind);
  RawFinding& finding = found_[key];
  if (finding.occurrences++ != 0) return;
  finding.detector = name_;
  RawAccess second("local-second", store);
  second.thread = ThreadIndex(static_cast<std::uint16_t>(thread));
  Addr address(block * kBlock);
  finding.accesses = {RawAccess("local-first", view.local, address, kBlock),
                      RawAccess("remote", remote, address, kBlock), second};
}

std::vector<RawFinding> OnlineDetector::findings() {
  std::vector<RawFinding> found;
  for (const auto& [key, finding] : found_) found.push_back(finding);
  std::sort(found.begin(), found.end(), [](const RawFinding& a, const RawFinding& b) {
    return a.accesses[2].moment < b.accesses[2].moment;
  });
  return found;
}

}  // namespace svd
