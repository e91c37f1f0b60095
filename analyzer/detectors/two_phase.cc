// SPDX-License-Identifier: Apache-2.0
//
// Definition. Strict two-phase locking, asked of the inputs of computational units (Xu, Bodik,
// Hill, PLDI 2005, sections 3.3 and 4.2): a unit of one thread read a location, another thread
// wrote it, and after that the unit did something that follows from what it had read.
//
//     thread 1: n = count         first
//     thread 2: count = 5         remote
//     thread 1: buf[n] = c        second: follows from n, through the address
//
// What a unit is, cu/ says; what is asked of it here:
//   it ends     where a thread reads what the unit wrote (the paper's cut), and all of a thread's
//               units end where it waits for others: barrier, join, condition, read, poll, accept.
//               They do not end at an unlock: atomicity that is broken between two critical
//               sections is what is looked for
//   second is   a store to shared memory, by value, address or condition; a load through an
//               address; a branch; a read of the same location elsewhere in the code (polling is
//               none). All follow from the first read. A crash is one: the load that faulted
//   ordered     by create, join, barrier, condition or semaphore: no conflict
//   minor       what may well be meant so: the second read or write does not follow from the first
//               access (r-W-r, w-R-w); the thread had itself written the location since; accesses
//               are atomic; or the units can be put one after the other (no pair) and no lock was
//               held from first to second, or only a pair of units with a release between and no
//               lost update. Never what the program died of
// Score: 8 the units conflict both ways, 4 no lock region ended between first and second, 2 the
// second writes what the first read, 1 no common lock at first and remote; then the fewest
// instructions between first and second (UNITS: the real bugs come first by this order).
//
// Cost: a walk before; a few operations for each instruction, or for each block when nothing in it
// follows from shared memory; two shadows of memory, of shared memory and of what follows from it.
// Known unsoundness: values that follow from no common read are not linked, so objects that must
// change together are not seen; what the same instruction reads again replaces its earlier read.

#include "detectors/two_phase.h"

#include <algorithm>
#include <array>

namespace svd {
namespace {

constexpr std::size_t kMostReads = 16;  // that a cell remembers of all threads
// read, poll, select, readv, accept, recvfrom, recvmsg, epoll_wait, pselect, ppoll, accept4, …
constexpr std::array<std::uint32_t, 12> kWaits{0, 7, 19, 23, 43, 45, 47, 232, 270, 271, 281, 288};

bool waits(const Event& event) {
  if (std::holds_alternative<ThreadJoin>(event.body)) return true;
  if (const auto* call = std::get_if<SyscallEnter>(&event.body))
    return std::find(kWaits.begin(), kWaits.end(), call->number) != kWaits.end();
  const auto* sync = std::get_if<Sync>(&event.body);
  return sync != nullptr && (sync->op == SyncOp::kBarrierWait || sync->op == SyncOp::kCondWait ||
                             sync->op == SyncOp::kCondTimedwait);
}

// How many more locks the thread holds after the event.
int locks_taken(const Event& event) {
  const auto* sync = std::get_if<Sync>(&event.body);
  if (sync == nullptr) return 0;
  switch (sync->op) {
    case SyncOp::kMutexLock:
    case SyncOp::kMutexTrylock:
    case SyncOp::kMutexTimedlock:
    case SyncOp::kSpinLock:
    case SyncOp::kSpinTrylock:
    case SyncOp::kRwlockRdlock:
    case SyncOp::kRwlockTryrdlock:
    case SyncOp::kRwlockTimedrdlock:
    case SyncOp::kRwlockWrlock:
    case SyncOp::kRwlockTrywrlock:
    case SyncOp::kRwlockTimedwrlock:
      return sync->phase != Phase::kBegin && sync->result == 0 ? 1 : 0;
    case SyncOp::kMutexUnlock:
    case SyncOp::kSpinUnlock:
    case SyncOp::kRwlockUnlock:
      return sync->phase != Phase::kEnd ? -1 : 0;
    default:
      return 0;
  }
}

}  // namespace

void TwoPhaseDetector::prepare(const Preparation& run) {
  const Ending& ending = run.trace.ending();
  if (ending.kind == EndKind::kSignal && ending.thread) fault_ = ending.seq;
  const ControlFlow& flow = run.flow.get();
  const CodeTable& code = run.code.get();
  ControlTracker tracker(code, flow);
  tracker.set_statements(run.trace.statements());
  values_.emplace(code, std::move(tracker), threads_.size(), !run.trace.statements().empty(),
                  units_);
}

void TwoPhaseDetector::acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment) {
  if (kind == EdgeKind::kOrder) orders_.acquire(thread, channel);
}

void TwoPhaseDetector::release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  if (kind == EdgeKind::kOrder) orders_.release(thread, channel, now);
}

void TwoPhaseDetector::fresh(Addr address, std::uint64_t size) {
  shadow_.clear(address, size);
  heard_fresh(address, size);
}

void TwoPhaseDetector::happened(const Event& event, ThreadIndex thread) {
  values_->event(event, thread.value);
  Thread& state = threads_[thread.value];
  if (waits(event)) {
    units_.end_all(thread.value);
    state.ended = state.newest;
    open_conflicts_ -= std::exchange(state.conflicts, 0);
  }
  int locks = locks_taken(event);
  if (locks > 0) ++state.depth;
  if (locks < 0 && state.depth > 0 && --state.depth == 0)
    state.progress.releases = (state.progress.releases + 1U) & Progress::kReleases;
}

void TwoPhaseDetector::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  next_ = 0;
  while (next_ < pending_.size() && pending_[next_].moment < first) outside(pending_[next_++]);
  exec_ = &exec;
  thread_ = thread.value;
  moment_of_seq_0_ = first - exec.seq.value;
  values_->exec(exec, thread_, any_shared_, *this);
  Thread& state = threads_[thread_];
  state.progress.own = (state.progress.own + exec.shape->part.steps()) & Progress::kOwn;
  pending_.clear();
  any_shared_ = false;
}

void TwoPhaseDetector::close() {
  shadow_ = {};
  conflicts_ = {};
  values_.reset();
}

std::vector<RawFinding> TwoPhaseDetector::findings() {
  std::vector<RawFinding> found;
  for (const auto& [key, finding] : upper_) found.push_back(finding);
  // What is also found with a dependence is not told again without.
  for (const auto& [key, finding] : lower_)
    if (upper_.count(key) == 0) found.push_back(finding);
  std::sort(found.begin(), found.end(), [](const RawFinding& a, const RawFinding& b) {
    return std::tuple(b.score, a.distance, a.accesses[2].moment) <
           std::tuple(a.score, b.distance, b.accesses[2].moment);
  });
  return found;
}

// Whether the unit of the access is, and mostly without a look at the unit.
bool TwoPhaseDetector::active(const BriefMark& mark, UnitMember unit) {
  return mark.moment > threads_[mark.thread].ended && units_.active(unit, mark.thread);
}

// By the kernel or the allocator for a thread.
void TwoPhaseDetector::outside(const Touch& access) {
  if (!access.writes() || !access.shared) return;
  UnitMember unit = units_.begin(access.thread.value);
  heard(unit, access);
  shadow_.visit(access.address, access.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    overwrite(cell, access, unit, at, size);
  });
}

bool TwoPhaseDetector::shared(Seq seq, bool write, Addr address, std::uint64_t) {
  Moment moment = moment_of_seq_0_ + seq.value;
  while (next_ < pending_.size() && pending_[next_].moment < moment) ++next_;
  // Those that nobody asks about lie between.
  std::size_t at = next_;
  auto here = [&] { return at < pending_.size() && pending_[at].moment == moment; };
  while (here() && (pending_[at].address != address || pending_[at].writes() != write)) ++at;
  touched_ = here();
  if (!touched_) return false;
  touch_ = pending_[at];
  next_ = at + 1;
  return touch_.shared;
}

void TwoPhaseDetector::address(Seq seq, TagSet set) {
  Trigger trigger{moment_of_seq_0_ + seq.value, {}};
  if (touched_) trigger.access = touch_;
  check(set, trigger);
}

void TwoPhaseDetector::branch(Seq seq, TagSet condition) {
  check(condition, {moment_of_seq_0_ + seq.value, {}});
}

// The access at hand belongs to the unit.
void TwoPhaseDetector::belongs(UnitMember unit, TagSet address) const {
  part(*exec_, thread_, Seq(touch_.moment - moment_of_seq_0_), unit);
  heard(unit, touch_, address, values_->control(thread_), values_->sets());
}

UnitMember TwoPhaseDetector::read(TagSet address) {
  UnitMember unit = units_.begin(thread_);
  belongs(unit, address);
  shadow_.touch(touch_.address, touch_.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    for (const Write& write : cell.writes)
      if (write.mark.is(touch_.thread) && active(write.mark, write.unit)) units_.end(write.unit);
    reread(cell, unit, address, at, size);
  });
  return unit;
}

void TwoPhaseDetector::reread(Cell& cell, UnitMember unit, TagSet address, Addr at,
                              std::uint64_t size) {
  cell.reads.erase_if([&](const Read& read) {
    if (!read.mark.is(touch_.thread)) return false;
    bool again = manners_.site(read.mark) == touch_.site;
    if (read.conflict == 0) return again || !active(read.mark, read.unit);
    if (!active(read.mark, read.unit)) return true;
    if (!again) read_again(read, address, {at, size});
    return true;
  });
  if (cell.reads.size() >= kMostReads) cell.reads.erase(cell.reads.begin());
  Thread& state = threads_[thread_];
  cell.reads.add({.mark = manners_.brief(touch_), .progress = state.progress, .unit = unit});
  state.newest = touch_.moment.value;
}

// What was read is read once more, elsewhere in the code, and has been overwritten in between.
void TwoPhaseDetector::read_again(const Read& read, TagSet address, const Range& range) {
  Trigger trigger{touch_.moment, touch_};
  bool dependent = follows(address, read.unit);
  values_->control(thread_).each([&](TagSet condition) {
    dependent = dependent || follows(condition, read.unit);
    return !dependent;
  });
  if (!dependent) {
    const Mark& remote = conflicts_[read.conflict].remote;
    Evidence evidence = weigh({read, remote, 0, range.address, range.size, {}}, trigger);
    evidence.minor = true;
    add(manners_.mark(read.mark), remote, {read.unit, conflicts_[read.conflict].remote_unit},
        trigger, range, evidence, threads_[thread_].progress.own - read.progress.own, true);
    return;
  }
  for (std::uint32_t remark = units_.first_remark(read.unit); remark != 0;
       remark = units_.next_remark(remark)) {
    Conflict& conflict = conflicts_[remark];
    if (conflict.read.mark.moment == read.mark.moment) report(conflict, trigger);
  }
}

void TwoPhaseDetector::write(TagSet value, TagSet address) {
  Trigger trigger{touch_.moment, touch_, value};
  check(value, trigger);
  check(address, trigger);
  check_control(trigger);
  UnitMember unit = 0;
  values_->sets().each(value, [&](UnitMember member) {
    UnitMember active = units_.if_active(member, thread_);
    if (active != 0) unit = unit == 0 ? active : units_.merge(unit, active);
  });
  if (unit == 0) unit = units_.begin(thread_);
  belongs(unit, address);
  shadow_.touch(touch_.address, touch_.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    write_again(cell, at, size);
    overwrite(cell, touch_, unit, at, size);
  });
}

// `unit` is that of the thread that writes.
void TwoPhaseDetector::overwrite(Cell& cell, const Touch& by, UnitMember unit, Addr at,
                                 std::uint64_t size) {
  cell.reads.erase_if([&](Read& read) {
    if (read.mark.is(by.thread)) {
      if (read.conflict == 0) read.written = 1;
      return false;
    }
    if (!active(read.mark, read.unit)) return true;
    if (read.conflict != 0) return false;
    if (orders_.before(by.thread)(read.mark)) return true;
    Mark remote(by);
    read.conflict = units_.first_remark(read.unit) & Read::kConflicts;
    if (read.conflict != 0 && conflicts_[read.conflict].read.mark.moment == read.mark.moment &&
        conflicts_[read.conflict].remote.moment == remote.moment)
      return false;
    read.conflict = units_.remark(read.unit) & Read::kConflicts;
    conflicts_.push_back({read, remote, unit, at, size});
    ++threads_[read.mark.thread].conflicts;
    ++open_conflicts_;
    return false;
  });
  // Of others' units that have ended only those matter that somebody has a conflict with.
  if (open_conflicts_ == 0)
    cell.writes.erase_if([&](const Write& write) {
      return !write.mark.is(by.thread) && !active(write.mark, write.unit);
    });
  Write* own = std::find_if(cell.writes.begin(), cell.writes.end(),
                            [&](const Write& write) { return write.mark.is(by.thread); });
  if (own == cell.writes.end()) own = &cell.writes.add({});
  *own = {manners_.brief(by), unit};
  threads_[by.thread.value].newest = by.moment.value;
}

// w-R-w: nothing says that the two writes belong together, but for their nearness.
void TwoPhaseDetector::write_again(const Cell& cell, Addr at, std::uint64_t size) {
  const Write* own = nullptr;
  std::uint64_t last = 0;
  for (const Write& write : cell.writes) {
    if (write.mark.is(touch_.thread)) own = &write;
    last = std::max<std::uint64_t>(last, write.mark.moment);
  }
  if (own == nullptr || own->mark.moment != last || !active(own->mark, own->unit)) return;
  for (const Read& read : cell.reads) {
    if (read.mark.is(touch_.thread) || read.mark.moment < last) continue;
    if (orders_.before(touch_.thread)(read.mark)) continue;
    Evidence evidence;
    evidence.nolock =
        lock_sets_.disjoint(manners_.lock_set(own->mark), manners_.lock_set(read.mark));
    evidence.minor = true;
    add(manners_.mark(own->mark), manners_.mark(read.mark), {own->unit, read.unit},
        {touch_.moment, touch_}, {at, size}, evidence, touch_.moment.value - own->mark.moment,
        true);
  }
}

bool TwoPhaseDetector::follows(TagSet set, UnitMember unit) {
  bool found = false;
  values_->sets().each(set, [&](UnitMember member) { found |= units_.same(member, unit); });
  return found;
}

void TwoPhaseDetector::check(TagSet set, const Trigger& trigger) {
  if (threads_[thread_].conflicts == 0) return;
  values_->sets().each(set, [&](UnitMember member) {
    if (!units_.active(member, thread_)) return;
    for (std::uint32_t remark = units_.first_remark(member); remark != 0;
         remark = units_.next_remark(remark))
      report(conflicts_[remark], trigger);
  });
}

void TwoPhaseDetector::check_control(const Trigger& trigger) {
  if (threads_[thread_].conflicts == 0) return;
  values_->control(thread_).each([&](TagSet condition) {
    check(condition, trigger);
    return true;
  });
}

void TwoPhaseDetector::report(Conflict& conflict, const Trigger& trigger) {
  Evidence evidence = weigh(conflict, trigger);
  add(manners_.mark(conflict.read.mark), conflict.remote,
      {conflict.read.unit, conflict.remote_unit}, trigger, {conflict.address, conflict.size},
      evidence, (threads_[thread_].progress.own - conflict.read.progress.own) & Progress::kOwn,
      !std::exchange(conflict.counted[evidence.minor ? 1 : 0], true));
}

TwoPhaseDetector::Evidence TwoPhaseDetector::weigh(const Conflict& conflict,
                                                   const Trigger& trigger) {
  const Read& read = conflict.read;
  LockSetId locks = manners_.lock_set(read.mark);
  Evidence found;
  found.pair = trigger.access && both_ways(conflict, *trigger.access);
  found.region = threads_[thread_].progress.releases == read.progress.releases;
  found.rmw = loses_update(conflict, trigger);
  found.nolock = lock_sets_.disjoint(locks, conflict.remote.lock_set());
  bool cycle = found.pair && (found.region || found.rmw);
  bool locked = found.region && locks != kNoLocks;
  bool fault = fault_ && moment_of_seq_0_ + fault_->value == trigger.moment;
  bool atomic = read.mark.atomic || conflict.remote.atomic;
  found.minor = read.written || atomic || !(cycle || locked || fault);
  return found;
}

// Whether the trigger writes what was read without knowing what the other thread wrote there: it
// was not read since, or what is written is made of both, the old and the new. Where both reads had
// become one unit before, what is written may be made of the new one only: so it is taken if a lock
// has been held since. (A hash table's links, and a sum over what was taken out of it.)
bool TwoPhaseDetector::loses_update(const Conflict& conflict, const Trigger& trigger) {
  if (!trigger.access || !trigger.access->writes()) return false;
  bool same = false;
  bool known = false;
  shadow_.visit(conflict.address, conflict.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    const Touch& write = *trigger.access;
    if (at >= write.address + write.size || write.address >= at + size) return;
    same = true;
    for (const Read& read : cell.reads) {
      if (!read.mark.is(write.thread) || read.mark.moment <= conflict.remote.moment) continue;
      bool locked = manners_.lock_set(read.mark) != kNoLocks &&
                    read.progress.releases == threads_[thread_].progress.releases;
      bool joined = units_.same(read.unit, conflict.read.unit);
      known |= (locked && joined) || !follows(trigger.value, read.unit);
    }
  });
  return same && !known;
}

// Whether the trigger comes after something that the other thread's unit did.
bool TwoPhaseDetector::both_ways(const Conflict& conflict, const Touch& trigger) {
  bool found = false;
  shadow_.visit(trigger.address, trigger.size, [&](Cell& cell, Addr, std::uint64_t) {
    for (const Write& write : cell.writes)
      found |= write.mark.thread == conflict.remote.thread &&
               (write.mark.moment == conflict.remote.moment ||
                units_.same(write.unit, conflict.remote_unit));
    if (!trigger.writes()) return;
    for (const Read& read : cell.reads)
      found |= read.mark.thread == conflict.remote.thread &&
               units_.same(read.unit, conflict.remote_unit);
  });
  return found;
}

void TwoPhaseDetector::add(const Mark& first, const Mark& remote, const UnitPair& units,
                           const Trigger& trigger, const Range& range, const Evidence& evidence,
                           std::uint64_t distance, bool count) {
  SitePair key{std::uint64_t{first.site} << 2 | first.kind,
               std::uint64_t{remote.site} << 2 | remote.kind};
  auto [entry, added] = (evidence.minor ? lower_ : upper_).try_emplace(key);
  RawFinding& finding = entry->second;
  finding.detector = name_;
  finding.minor = evidence.minor;
  if (count) finding.happened({Moment(first.moment), Moment(remote.moment), range.address}, units);
  std::uint64_t score = evidence.score();
  if (!added && std::pair(score, ~distance) <= std::pair(finding.score, ~finding.distance)) return;
  finding.score = score;
  finding.distance = distance;
  RawAccess second("local-second", trigger.moment);
  if (trigger.access) {
    second =
        RawAccess("local-second", *trigger.access, trigger.access->address, trigger.access->size);
  }
  second.thread = ThreadIndex(static_cast<std::uint16_t>(thread_));
  finding.accesses = {RawAccess("local-first", first, range.address, range.size),
                      RawAccess("remote", remote, range.address, range.size), second};
}

}  // namespace svd
