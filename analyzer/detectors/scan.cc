// SPDX-License-Identifier: Apache-2.0

#include "detectors/scan.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <span>
#include <variant>

#include "svd/trace/chunk_stream.h"
#include "svd/trace/processors.h"

namespace svd {
namespace {

constexpr std::uint64_t kWidest = 8;  // reads of more are vector instructions
constexpr std::uint32_t kFutex = 202;

}  // namespace

Scan::Scan(const TraceReader& trace, const Rules& rules, CodeNames& names, LockSets& lock_sets)
    : Scan({trace, rules, names, diagnostics_, own_flow_, own_code_}, lock_sets) {}

Scan::Scan(const Preparation& run, LockSets& lock_sets)
    : trace_(run.trace),
      rules_(run.rules),
      names_(run.names),
      own_flow_(run.trace, diagnostics_),
      own_code_(run.trace, own_flow_, diagnostics_),
      flow_(run.flow),
      code_(run.code),
      moments_(run.trace),
      sites_(run.trace),
      sync_(run.trace, lock_sets),
      filter_(run.trace, run.rules, run.names, sync_.threads()),
      user_site_(sync_.threads()),
      system_call_(sync_.threads()) {}

std::size_t Scan::find_waits() {
  // Where a walk has to be made, what is shared is learnt by the same one.
  SharingScan sharing;
  std::optional<Waits> waits = Waits::of(preparation(), sharing);
  SharingScan::Found found = waits ? sharing.take() : find_sharing();
  if (waits) waits_ = std::move(*waits);
  learn(found);
  atomic_words_ = AtomicWords(std::move(found.words));
  return waits_.places();
}

SharingScan::Found Scan::find_sharing() {
  SharingScan sharing;
  LockSets lock_sets;
  Scan scan(preparation(), lock_sets);
  scan.add(sharing);
  scan.walk(Columns{.values = false});
  return sharing.take();
}

void Scan::learn(SharingScan::Found& found) {
  shared_.emplace(std::move(found.bytes));
  accessors_.emplace(std::move(found.accessors));
}

void Scan::add(Detector& detector) {
  if (detector.needs_sharing() && !shared_) {
    SharingScan::Found found = find_sharing();
    learn(found);
  }
  detector.prepare(preparation());
  if (!detector.wants_accesses() && !detector.follows_execution()) return;
  any_wants_accesses_ = any_wants_accesses_ || detector.wants_accesses();
  detectors_.push_back(&detector);
}

void Scan::divide() {
  divided_ = true;
  accessors_.reset();
  auto follows = [](const Detector* detector) { return detector->follows_execution(); };
  auto apart = std::stable_partition(detectors_.begin(), detectors_.end(), std::not_fn(follows));
  if (any_wants_accesses_ && several_processors()) {
    if (apart == detectors_.end()) apart = detectors_.begin();
    relay_.emplace(std::vector(apart, detectors_.end()));
    detectors_.erase(apart, detectors_.end());
    detectors_.push_back(&*relay_);
  }
  std::copy_if(detectors_.begin(), detectors_.end(), std::back_inserter(followers_), follows);
}

void Scan::walk(const Columns& columns) {
  ChunkStream stream(trace_, TraceReader::Order::kForward, columns, nullptr,
                     [this](const ChunkStream::Decoded&) { finish(); });
  or_abandon([&] {
    while (const ChunkStream::Decoded* next = stream.next())
      if (next->status) tell(next->index, next->chunk);
  });
}

void Scan::chunk(std::size_t index, const Chunk& chunk) {
  or_abandon([&] { tell(index, chunk); });
  finish();
}

// Chunks and detectors can go when it fails.
template <class F>
void Scan::or_abandon(F&& f) {
  try {
    f();
  } catch (...) {
    if (relay_) relay_->abandon();
    throw;
  }
}

void Scan::tell(std::size_t index, const Chunk& chunk) {
  if (!divided_) divide();
  Moment first = moments_.first(index);
  if (relay_) relay_->begin(chunk, first);
  chunk.walk(WithMoments(*this, chunk, first));
  if (relay_) relay_->end();
}

void Scan::finish() {
  if (!relay_) return;
  if (std::exception_ptr failure = relay_->finish()) std::rethrow_exception(failure);
}

inline void Scan::run(ThreadId thread) {
  if (running_id_ && thread == *running_id_) return;
  running_id_ = thread;
  running_ = sync_.index(thread);
}

inline void Scan::exec(const Exec& exec, Moment first) {
  run(exec.thread);
  if (any_wants_accesses_) accesses(exec, first);
  for (Detector* follower : followers_) follower->executed(exec, running_, first);
}

inline void Scan::accesses(const Exec& exec, Moment first) {
  Counts counts = filter_.counts(running_, exec);
  if (counts == Counts::kNot) return;
  bool user = counts == Counts::kUser;
  if (user && sync_.waits(running_)) sync_.goes_on(running_, first, *this);
  SiteId& user_site = user_site_[running_.value];
  if (user && !filter_.is_stub(exec.shape->id))
    user_site = sites_.of(exec.shape->id, exec.shape->part.end - 1U);
  Touch access;
  access.thread = running_;
  access.locks = sync_.held(running_);
  exec.accesses([&](const MemoryAccess& memory) __attribute__((always_inline)) {
    if (counts == Counts::kSystemWide && !memory.slot->write && memory.size > kWidest) return;
    access.moment = first + (memory.seq - exec.seq);
    access.address = memory.address;
    access.size = memory.size;
    access.site = user ? sites_.of(exec.shape->id, memory.slot->instruction) : user_site;
    access.kind = memory.slot->write ? TouchKind::kWrite : TouchKind::kRead;
    access.atomic =
        memory.slot->atomic ||
        filter_.is_atomic(exec.shape->id, memory.slot->instruction, memory.address, memory.size);
    access.shared = !shared_ || shared_->any(memory.address, memory.size);
    if (waits_.any() && waits_.flag(memory.address, memory.size)) return flag(access);
    bool releases = access.atomic && memory.slot->write;
    if (access.shared && atomic_words_.may_hold(access.address)) {
      bool constant = stores_constant(exec, memory.slot->instruction);
      releases |= atomic_words_.store(access, constant);
    }
    // Asked in this order because which access is a read cannot be predicted.
    if (sync_.may_be_atomic(memory.address) && !memory.slot->write)
      sync_.read(running_, memory.address, access.moment, *this);
    give(access);
    if (releases) sync_.atomic_write(running_, memory.address, access.moment + 1, *this);
  });
}

bool Scan::stores_constant(const Exec& exec, std::size_t instruction) {
  if (exec.block().abstract()) return false;
  const Step& step = code_.get().block(exec.shape->id).steps[instruction];
  std::span<const CellUse> uses = code_.get().uses(step);
  return step.end_slot - step.first_slot == 1 &&
         std::none_of(uses.begin(), uses.end(),
                      [](const CellUse& use) { return use.role == UseRole::kValue; });
}

void Scan::flag(const Touch& access) {
  Touch atomic = access;
  atomic.atomic = true;
  if (!access.writes())
    sync_.flag_read(access.thread, access.address, waits_.waits(access.site), access.moment, *this);
  give(atomic);
  if (access.writes()) sync_.flag_write(access.thread, access.address, access.moment + 1, *this);
}

void Scan::event(const Event& event, Moment now) {
  run(event.thread);
  for (Detector* follower : followers_) follower->happened(event, running_);
  sync_.event(event, now, *this);
  for (const Sync& operation : descriptors_.operations(event)) {
    Event said = event;
    said.body = operation;
    sync_.event(said, now, *this);
  }
  if (const auto* atomic = std::get_if<Atomic>(&event.body)) {
    for (Detector* detector : detectors_)
      detector->atomic_block(running_, atomic->edge == Edge::kBegin, now);
  }
  memory(event, now);
}

void Scan::memory(const Event& event, Moment now) {
  Touch access;
  access.moment = now;
  access.thread = running_;
  access.locks = sync_.held(access.thread);
  access.site = user_site_[access.thread.value];
  if (auto born = lifetimes_.born(event); born && born->size > 0) {
    if (waits_.any()) waits_.fresh(born->address, born->size);
    atomic_words_.fresh(born->address, born->size);
    if (shared_) shared_->fresh(born->address, born->size);
    for (Detector* detector : detectors_) detector->fresh(born->address, born->size);
  } else if (auto freed = lifetimes_.given_back(event); freed && freed->size > 0) {
    access.address = freed->address;
    access.size = freed->size;
    access.kind = TouchKind::kFree;
    access.shared = !shared_ || shared_->any(access.address, access.size);
    give(access);
  } else if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
    system_call_[access.thread.value] = call->number;
  } else if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
    // What a futex is was accessed atomically, and only that.
    if (filter_.counts(access.thread) == Counts::kNot) return;
    if (system_call_[access.thread.value] == kFutex) return;
    access.address = kernel->address;
    access.size = kernel->size;
    access.kind = kernel->access == Access::kWrite ? TouchKind::kWrite : TouchKind::kRead;
    access.shared = !shared_ || shared_->any(access.address, access.size);
    give(access);
  }
}

void Scan::give(const Touch& access) {
  if (access.size == 0) return;
  ++accesses_;
  for (Detector* detector : detectors_) detector->access(access);
}

void Scan::acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  for (Detector* detector : detectors_) detector->acquire(thread, channel, kind, now);
}

void Scan::release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) {
  for (Detector* detector : detectors_) detector->release(thread, channel, kind, now);
}

}  // namespace svd
