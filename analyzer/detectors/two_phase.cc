// SPDX-License-Identifier: Apache-2.0
//
// Definition. Strict two-phase locking, asked of the inputs of computational units (Xu, Bodik,
// Hill, PLDI 2005, sections 3.3 and 4.2): a unit of one thread read a location, another thread
// wrote it, and after that the unit did something that follows from what it had read.
//
//     thread 1                    thread 2
//     n = count       first
//                                 count = 5    remote
//     buf[n] = c      second      follows from n, through the address
//
// What a unit is, cu/ says; what is asked of it here:
//
//   it ends     where a thread reads what the unit wrote (the paper's cut), and all of a thread's
//               units end where it waits for others: barrier, join, condition, read, poll, accept.
//               They do not end at an unlock: atomicity that is broken between two critical
//               sections is what is looked for
//   second is   a store to shared memory, by value, address or condition; a load through an
//   address;
//               a branch; a read of the same location elsewhere in the code (polling is none). All
//               have to follow from the first read. A crash is one of them: the load that faulted
//   ordered     by create, join, barrier, condition or semaphore: no conflict
//   minor       what may well be meant so: the second read or write does not follow from the first
//               access (r-W-r, w-R-w); the thread had itself written the location since; accesses
//               are atomic; or the units can be put one after the other (no pair) and no lock was
//               held from first to second, or only a pair of units with a release between and no
//               lost update. Never what the program died of
//
// Score: 8 the units conflict both ways, 4 no lock region ended between first and second, 2 the
// second writes what the first read, 1 no common lock at first and remote; then the fewest
// instructions between first and second (UNITS: the real bugs come first by this order).
//
// Cost: one walk before, for what is shared; a few operations for each instruction, a shadow of
// shared memory and one of private memory that follows from it.
//
// Known unsoundness: values that follow from no common read are not linked, so objects that must
// change together are not seen; what the same instruction reads again replaces its earlier read.

#include "detectors/two_phase.h"

#include <algorithm>
#include <array>

#include "detectors/scan.h"

namespace svd {
namespace {

constexpr std::size_t kMostReads = 16;  // that a cell remembers of all threads
// read, poll, select, readv, accept, recvfrom, recvmsg, epoll_wait, pselect, ppoll, epoll_pwait,
// accept4: the thread waits for somebody.
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
  SharingScan sharing;
  LockSets lock_sets;
  Scan scan(run.trace, run.rules, run.names, lock_sets);
  scan.add(sharing);
  Chunk chunk;
  for (std::size_t i = 0; i < run.trace.chunks().size(); ++i)
    if (run.trace.decode(i, chunk, Columns{.values = false})) scan.chunk(i, chunk);
  shared_ = SharedBytes(sharing.take());
  const Ending& ending = run.trace.ending();
  if (ending.kind == EndKind::kSignal && ending.thread) fault_ = ending.seq;
  // From here on every access can be told shared or private.
  flow_.emplace(ControlFlow::of(run.trace, run.diagnostics));
  code_ = std::make_unique<CodeTable>(CodeTable::of(run.trace, *flow_, run.diagnostics));
  ControlTracker tracker(*code_, *flow_);
  tracker.set_statements(run.trace.statements());
  values_.emplace(*code_, std::move(tracker), threads_.size(), !run.trace.statements().empty(),
                  units_);
}

void TwoPhaseDetector::acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment) {
  if (kind == EdgeKind::kOrder) orders_.acquire(thread, channel);
}

void TwoPhaseDetector::release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  if (kind == EdgeKind::kOrder) orders_.release(thread, channel, now);
}

void TwoPhaseDetector::fresh(Addr address, std::uint64_t size) {
  shared_.fresh(address, size);
  shadow_.clear(address, size);
}

void TwoPhaseDetector::happened(const Event& event, ThreadIndex thread) {
  values_->event(event, thread.value);
  Thread& state = threads_[thread.value];
  if (waits(event)) {
    units_.end_all(thread.value);
    state.conflicts = 0;
  }
  int locks = locks_taken(event);
  if (locks > 0) ++state.depth;
  if (locks < 0 && state.depth > 0 && --state.depth == 0) ++state.releases;
}

void TwoPhaseDetector::executed(const Exec& exec, ThreadIndex thread, Moment first) {
  next_ = 0;
  while (next_ < pending_.size() && pending_[next_].moment < first) outside(pending_[next_++]);
  thread_ = thread.value;
  moment_of_seq_0_ = first - exec.seq.value;
  values_->exec(exec, thread_, *this);
  threads_[thread_].own += exec.shape->part.steps();
  pending_.clear();
}

std::vector<RawFinding> TwoPhaseDetector::findings() {
  // What is also found with a dependence is not told again without.
  std::vector<RawFinding> all;
  for (const auto& [key, index] : upper_) all.push_back(found_[index]);
  for (const auto& [key, index] : lower_)
    if (upper_.count(key) == 0) all.push_back(found_[index]);
  std::sort(all.begin(), all.end(), [](const RawFinding& a, const RawFinding& b) {
    return std::tuple(a.minor, ~a.score, a.distance, a.accesses[2].moment) <
           std::tuple(b.minor, ~b.score, b.distance, b.accesses[2].moment);
  });
  return all;
}

// By the kernel or the allocator for a thread.
void TwoPhaseDetector::outside(const Touch& access) {
  if (!access.writes() || !shared_.any(access.address, access.size)) return;
  UnitMember unit = units_.begin(access.thread.value);
  shadow_.visit(access.address, access.size, [&](Cell& cell, Addr at, std::uint64_t size) {
    overwrite(cell, access, unit, at, size);
  });
}

bool TwoPhaseDetector::shared(Seq seq, bool write, Addr address, std::uint64_t size) {
  Moment moment = moment_of_seq_0_ + seq.value;
  while (next_ < pending_.size() && pending_[next_].moment < moment) ++next_;
  touched_ = next_ < pending_.size() && pending_[next_].moment == moment &&
             pending_[next_].address == address && pending_[next_].writes() == write;
  if (!touched_) return false;
  touch_ = pending_[next_++];
  return shared_.any(address, size);
}

void TwoPhaseDetector::add(const Mark& first, const Mark& remote, const Trigger& trigger,
                           const Range& range, const Evidence& evidence, std::uint64_t distance,
                           bool count) {
  Sites3 key{std::uint64_t{first.site} << 2 | first.kind,
             std::uint64_t{remote.site} << 2 | remote.kind};
  auto [entry, added] = (evidence.minor ? lower_ : upper_).try_emplace(key, found_.size());
  if (added) found_.push_back({.detector = name_, .minor = evidence.minor});
  RawFinding& finding = found_[entry->second];
  if (count) ++finding.occurrences;
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
