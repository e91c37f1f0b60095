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
// Cost: some operations for each instruction; some 200 bytes for each 4 bytes of memory and thread
// that accesses them, as the paper's grows with the memory that the program touches; 12 bytes for
// each unit that ever began.

#include "detectors/online.h"

#include <algorithm>
#include <utility>

namespace svd {

void OnlineDetector::prepare(const Preparation& run) {
  const ControlFlow& flow = run.flow.get();
  code_ = std::make_unique<CodeTable>(CodeTable::of(run.trace, flow, run.diagnostics));
  tracker_.emplace(*code_, flow);
  tracker_->set_statements(run.trace.statements());
  skipper_ = Skipper(run.trace);
  abstract_ = !run.trace.statements().empty();
  for (Thread& thread : threads_) thread.cells.resize(code_->cell_count());
}

OnlineDetector::Views& OnlineDetector::views(BlockNumber block) {
  std::uint64_t number = block / kPageBlocks;
  if (number != last_page_) {
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    page_ = page.get();
    last_page_ = number;
  }
  return (*page_)[block % kPageBlocks];
}

OnlineDetector::View& OnlineDetector::view(std::size_t thread, BlockNumber block) {
  Views& all = views(block);
  auto own =
      std::find_if(all.begin(), all.end(), [thread](const View& v) { return v.thread == thread; });
  if (own != all.end()) return *own;
  all.emplace_back().thread = static_cast<std::uint16_t>(thread);
  return all.back();
}

// New memory is Idle for all.
void OnlineDetector::fresh(Addr address, std::uint64_t size) {
  BlockNumber first = address.value / kBlock;
  BlockNumber last = (address.value + size - 1) / kBlock;
  auto clear = [&](std::uint64_t number, Page& page) {
    for (std::uint64_t i = 0; i < kPageBlocks; ++i) {
      BlockNumber block = number * kPageBlocks + i;
      if (block >= first && block <= last) page[i].clear();
    }
  };
  if (last / kPageBlocks - first / kPageBlocks < pages_.size()) {
    for (std::uint64_t number = first / kPageBlocks; number <= last / kPageBlocks; ++number) {
      auto page = pages_.find(number);
      if (page != pages_.end()) clear(number, *page->second);
    }
  } else {
    for (auto& [number, page] : pages_) clear(number, *page);
  }
}

void OnlineDetector::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  // What the kernel did for a thread others hear of.
  for (next_ = 0; next_ < pending_.size() && pending_[next_].moment < first; ++next_)
    remote(pending_[next_]);
  segments_.clear();
  tracker_->exec(exec,
                 [this](std::uint16_t at, Seq parent) { segments_.emplace_back(at, parent); });
  memories_.clear();
  exec.accesses([this](const MemoryAccess& memory) { memories_.push_back(memory); });
  next_memory_ = 0;
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

void OnlineDetector::step(const Exec& exec, std::size_t thread, std::uint16_t index, Seq parent,
                          Moment moment) {
  const Step& step = code_->block(exec.shape->id).steps[index];
  Thread& state = threads_[thread];
  if (abstract_) {
    state.statements.at(parent);
  } else {
    state.branches.at(step.pc);
  }
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
    if (auto end = skipper_.reconvergence(step.pc)) state.branches.push(operands.condition, *end);
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
  View* own = &view(thread, block);
  if (own->state == State::kStoredShared) {
    deactivate(thread, own->cu);
    own = &view(thread, block);
  }
  if (own->cu == 0 || !units_.active(own->cu, thread)) own->cu = units_.begin(thread);
  reads(own->cu, *own, block);
  if (own->state == State::kIdle) own->state = State::kLoaded;
  if (own->state == State::kStored) own->state = State::kTrueDep;
  own->accessed(mark);
  into = sets_.unite(into, TagSets::of(own->cu), thread);
}

// Each unit once, and those that have ended not at all: done when there are twice as many as then.
void OnlineDetector::tidy(View& view) {
  std::erase_if(view.readers,
                [&](UnitMember reader) { return !units_.active(reader, view.thread); });
  for (UnitMember& reader : view.readers) reader = units_.of_member(reader);
  std::sort(view.readers.begin(), view.readers.end());
  view.readers.erase(std::unique(view.readers.begin(), view.readers.end()), view.readers.end());
  view.tidy_at = std::max(view.tidy_at, static_cast<std::uint32_t>(2 * view.readers.size()));
}

// The block is in the unit's read set from here on.
void OnlineDetector::reads(UnitMember unit, View& view, BlockNumber block) {
  if (!view.readers.empty() && units_.same(view.readers.back(), unit)) return;
  if (view.readers.size() >= view.tidy_at) tidy(view);
  view.readers.push_back(unit);
  blocks(unit).push_back(block);
  if (view.remote.moment != 0) add_conflict(unit, view, block);
}

// Lines 20 and 21.
void OnlineDetector::store(std::size_t thread, BlockNumber block, const Mark& mark,
                           UnitMember unit) {
  View& own = view(thread, block);
  if (own.cu == 0 || !units_.same(own.cu, unit)) blocks(unit).push_back(block);
  own.cu = unit;
  if (own.state == State::kIdle || own.state == State::kLoaded) own.state = State::kStored;
  if (own.state == State::kLoadedShared) own.state = State::kStoredShared;
  own.accessed(mark);
}

// merge_and_update, of two.
UnitMember OnlineDetector::join(UnitMember a, UnitMember b) {
  if (units_.same(a, b)) return units_.of_member(a);
  auto both = [](auto one, auto other) {
    if (one.size() < other.size()) std::swap(one, other);
    one.insert(one.end(), other.begin(), other.end());
    return one;
  };
  auto blocks = both(take(blocks_, a), take(blocks_, b));
  auto conflicts = both(take(conflicts_, a), take(conflicts_, b));
  UnitMember all = units_.merge(a, b);
  blocks_[all] = std::move(blocks);
  if (!conflicts.empty()) {
    conflicts_[all] = std::move(conflicts);
    ++news_;
  }
  return all;
}

UnitMember OnlineDetector::merge(std::size_t thread, TagSet data) {
  UnitMember all = 0;
  sets_.each(data, [&](UnitMember member) {
    if (units_.active(member, thread))
      all = all == 0 ? units_.of_member(member) : join(all, member);
  });
  return all != 0 ? all : units_.begin(thread);
}

template <class T>
T OnlineDetector::take(std::unordered_map<UnitMember, T>& from, UnitMember unit) {
  auto found = from.extract(units_.of_member(unit));
  return found.empty() ? T() : std::move(found.mapped());
}

void OnlineDetector::deactivate(std::size_t thread, UnitMember unit) {
  std::vector<BlockNumber> blocks = take(blocks_, unit);
  conflicts_.erase(units_.of_member(unit));
  units_.end(unit);
  for (BlockNumber block : blocks) {
    View& own = view(thread, block);
    own.state = State::kIdle;
    own.remote = Mark();
    if (own.cu != 0 && !units_.active(own.cu, thread)) own.cu = 0;
  }
}

// Lines 29 to 32, for each other thread.
void OnlineDetector::remote(const Touch& access) {
  BlockNumber last = (access.address.value + access.size - 1) / kBlock;
  for (BlockNumber block = access.address.value / kBlock; block <= last; ++block)
    for (View& view : views(block))
      if (view.thread != access.thread.value) remote(view, block, access);
}

void OnlineDetector::remote(View& view, BlockNumber block, const Touch& access) {
  if (view.state == State::kTrueDep) {
    view.heard = true;
    return deactivate(view.thread, view.cu);
  }
  bool stored = view.state == State::kStored || view.state == State::kStoredShared;
  bool conflict = stored || (access.writes() && view.state != State::kIdle);
  if (view.state == State::kLoaded) view.state = State::kLoadedShared;
  if (view.state == State::kStored) view.state = State::kStoredShared;
  if (view.remote.moment == 0) view.heard = true;
  if (!conflict || view.remote.moment != 0 || view.local.moment == 0) return;
  view.remote = Mark(access);
  tidy(view);
  for (UnitMember reader : view.readers) add_conflict(reader, view, block);
}

void OnlineDetector::add_conflict(UnitMember unit, const View& view, BlockNumber block) {
  conflicts_[units_.of_member(unit)].push_back({block, view.remote.moment});
  ++news_;
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
    if (!units_.active(member, thread)) return;
    for (const Conflict& conflict : take(conflicts_, member)) {
      const View& own = view(thread, conflict.block);
      if (own.remote.moment == conflict.moment) report(thread, own, conflict.block, store);
    }
  });
}

void OnlineDetector::report(std::size_t thread, const View& view, BlockNumber block, Moment store) {
  std::uint64_t key = (std::uint64_t{view.local.site} << 2 | view.local.kind) << 32 |
                      (std::uint64_t{view.remote.site} << 2 | view.remote.kind);
  RawFinding& finding = found_[key];
  if (finding.occurrences++ != 0) return;
  finding.detector = name_;
  RawAccess second("local-second", store);
  second.thread = ThreadIndex(static_cast<std::uint16_t>(thread));
  Addr address(block * kBlock);
  finding.accesses = {RawAccess("local-first", view.local, address, kBlock),
                      RawAccess("remote", view.remote, address, kBlock), second};
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
