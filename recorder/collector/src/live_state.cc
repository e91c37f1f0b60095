// SPDX-License-Identifier: Apache-2.0

#include "live_state.h"

#include <algorithm>
#include <cerrno>
#include <variant>

namespace svd {
namespace {

enum class Effect { kNone, kInit, kDestroy, kAcquire, kRelease };

Effect effect_of(SyncOp op) {
  switch (op) {
    case SyncOp::kMutexInit:
    case SyncOp::kRwlockInit:
    case SyncOp::kSpinInit:
    case SyncOp::kCondInit:
    case SyncOp::kSemInit:
    case SyncOp::kBarrierInit:
      return Effect::kInit;
    case SyncOp::kMutexDestroy:
    case SyncOp::kRwlockDestroy:
    case SyncOp::kSpinDestroy:
    case SyncOp::kCondDestroy:
    case SyncOp::kSemDestroy:
    case SyncOp::kBarrierDestroy:
      return Effect::kDestroy;
    case SyncOp::kMutexLock:
    case SyncOp::kMutexTrylock:
    case SyncOp::kMutexTimedlock:
    case SyncOp::kRwlockRdlock:
    case SyncOp::kRwlockTryrdlock:
    case SyncOp::kRwlockTimedrdlock:
    case SyncOp::kRwlockWrlock:
    case SyncOp::kRwlockTrywrlock:
    case SyncOp::kRwlockTimedwrlock:
    case SyncOp::kSpinLock:
    case SyncOp::kSpinTrylock:
      return Effect::kAcquire;
    case SyncOp::kMutexUnlock:
    case SyncOp::kRwlockUnlock:
    case SyncOp::kSpinUnlock:
      return Effect::kRelease;
    default:
      return Effect::kNone;
  }
}

// What it adds to a semaphore's value.
int semaphore_change(const Sync& sync) {
  if (sync.result != 0 || sync.phase == Phase::kBegin) return 0;
  switch (sync.op) {
    case SyncOp::kSemPost:
      return 1;
    case SyncOp::kSemWait:
    case SyncOp::kSemTrywait:
    case SyncOp::kSemTimedwait:
      return -1;
    default:
      return 0;
  }
}

bool succeeded(const Sync& sync) {
  return sync.phase != Phase::kBegin && (sync.result == 0 || sync.result == EOWNERDEAD);
}

bool is_condition(const Sync& sync) {
  return sync.op == SyncOp::kCondWait || sync.op == SyncOp::kCondTimedwait;
}

// Takes the newest one of `object` out.
bool take_out(std::vector<Sync>& list, Addr object) {
  auto found = std::find_if(list.rbegin(), list.rend(),
                            [object](const Sync& sync) { return sync.object == object; });
  if (found == list.rend()) return false;
  list.erase(std::next(found).base());
  return true;
}

}  // namespace

void LiveState::drop(ThreadId thread, const EventBody& body) {
  std::visit([&](const auto& event) { on(thread, event); }, body);
}

void LiveState::on(ThreadId id, const ThreadStart& start) {
  made_.erase(id);
  Thread& thread = threads_[id];
  thread.start = start;
  if (!start.name.empty()) thread.name = start.name;
}

void LiveState::on(ThreadId id, const ThreadName& name) { threads_[id].name = name.name; }

void LiveState::on(ThreadId id, const ThreadExit&) {
  Thread& thread = threads_[id];
  thread.exited = true;
  thread.waits.clear();
  thread.joins.reset();
  thread.syscall.reset();
  if (thread.held.empty()) threads_.erase(id);
}

void LiveState::on(ThreadId id, const ThreadCreate& create) { made_[create.child] = {id, create}; }

void LiveState::on(ThreadId id, const ThreadJoin& join) {
  if (join.phase == Phase::kBegin)
    threads_[id].joins = join;
  else
    threads_[id].joins.reset();
}

void LiveState::on(ThreadId id, const Sync& sync) {
  Thread& thread = threads_[id];
  if (sync.phase == Phase::kBegin)
    thread.waits.push_back(sync);
  else if (sync.phase == Phase::kEnd)
    take_out(thread.waits, sync.object);
  switch (effect_of(sync.op)) {
    case Effect::kInit:
      if (sync.result == 0) objects_[sync.object.value] = {id, sync};
      break;
    case Effect::kDestroy:
      objects_.erase(sync.object.value);
      break;
    case Effect::kAcquire:
      if (succeeded(sync)) thread.held.push_back(sync);
      break;
    case Effect::kRelease:
      if (succeeded(sync)) release(thread, sync.object);
      break;
    case Effect::kNone:
      break;
  }
  auto object = objects_.find(sync.object.value);
  if (object != objects_.end() && object->second.second.op == SyncOp::kSemInit)
    object->second.second.argument += static_cast<std::uint64_t>(semaphore_change(sync));
}

// Some programs unlock what another thread has locked.
void LiveState::release(Thread& thread, Addr object) {
  if (take_out(thread.held, object)) return;
  for (auto& [id, other] : threads_) {
    if (!take_out(other.held, object)) continue;
    if (other.exited && other.held.empty()) threads_.erase(id);
    return;
  }
}

void LiveState::on(ThreadId id, const Allocation& allocation) {
  allocations_[allocation.address.value] = {id, allocation};
}

void LiveState::on(ThreadId, const Release& release) { allocations_.erase(release.address.value); }

// Cuts [address, address + size) out of what is mapped.
void LiveState::take(std::uint64_t address, std::uint64_t size, std::vector<Piece>& out) {
  std::uint64_t end = address + size;
  auto piece = mapped_.upper_bound(address);
  if (piece != mapped_.begin()) --piece;
  while (piece != mapped_.end() && piece->first < end) {
    Piece whole = piece->second;
    std::uint64_t from = piece->first;
    std::uint64_t to = from + whole.map.size;
    if (to <= address) {
      ++piece;
      continue;
    }
    piece = mapped_.erase(piece);
    auto part = [&whole, from](std::uint64_t first, std::uint64_t last) {
      Piece cut = whole;
      cut.map.address = Addr(first);
      cut.map.size = last - first;
      cut.map.file_offset += first - from;
      return cut;
    };
    if (from < address) put(part(from, address));
    if (end < to) put(part(end, to));
    out.push_back(part(std::max(from, address), std::min(to, end)));
  }
}

void LiveState::put(const Piece& piece) { mapped_[piece.map.address.value] = piece; }

void LiveState::on(ThreadId id, const Mapping& map) {
  std::vector<Piece> taken;
  bool moved = map.op == MapOp::kRemap;
  if (moved) take(map.old_address.value, map.old_size, taken);
  std::vector<Piece> covered;
  take(map.address.value, map.size, covered);
  switch (map.op) {
    case MapOp::kUnmap:
      break;
    case MapOp::kProtect:
      for (Piece& piece : covered) {
        piece.map.protection = map.protection;
        put(piece);
      }
      break;
    case MapOp::kRemap: {
      Piece piece{id, map};
      if (!taken.empty()) piece.map = taken.front().map;
      piece.map.op = MapOp::kMap;
      piece.map.address = map.address;
      piece.map.size = map.size;
      put(piece);
      break;
    }
    case MapOp::kMap:
    case MapOp::kBreak:
      put({id, map});
      break;
  }
}

void LiveState::on(ThreadId id, const SyscallEnter& call) { threads_[id].syscall = call; }

void LiveState::on(ThreadId id, const SyscallExit&) { threads_[id].syscall.reset(); }

void LiveState::on(ThreadId id, const ModuleLoad& load) { modules_.emplace_back(id, load.module); }

void LiveState::on(ThreadId, const ModuleUnload& unload) {
  std::erase_if(modules_, [&](const auto& module) { return module.second == unload.module; });
}

void LiveState::on(ThreadId, const Note& note) {
  if (std::find(notes_.begin(), notes_.end(), note.text) == notes_.end())
    notes_.emplace_back(note.text);
}

// What it holds, then what it waits for.
void LiveState::restate_calls(ThreadId id, const Thread& thread, const Tell& tell) {
  for (Sync held : thread.held) {
    if (held.phase == Phase::kEnd) {
      Sync begin = held;
      begin.phase = Phase::kBegin;
      begin.result = 0;
      tell(id, begin);
    }
    tell(id, held);
  }
  if (thread.syscall) tell(id, *thread.syscall);
  for (const Sync& waits : thread.waits) tell(id, waits);
  if (thread.joins) tell(id, *thread.joins);
  if (thread.exited) tell(id, ThreadExit{});
}

void LiveState::restate(const Tell& tell) const {
  // All of it by somebody who is known: the threads come first.
  for (const auto& [id, thread] : threads_) {
    if (!thread.start) {
      if (!thread.name.empty()) tell(id, ThreadName{thread.name});
      continue;
    }
    ThreadStart start = *thread.start;
    start.name = thread.name;
    tell(id, start);
  }
  for (const auto& [child, made] : made_) tell(made.first, made.second);
  for (const auto& [address, piece] : mapped_) tell(piece.thread, piece.map);
  for (const auto& [id, module] : modules_) tell(id, ModuleLoad{module});
  for (const auto& [address, object] : objects_) tell(object.first, object.second);
  std::vector<std::uint64_t> addresses;
  addresses.reserve(allocations_.size());
  for (const auto& [address, allocation] : allocations_) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  for (std::uint64_t address : addresses) {
    const auto& [id, allocation] = allocations_.at(address);
    tell(id, allocation);
  }
  // Who waits for a condition has let go of its mutex, so that another thread can hold it.
  for (bool condition : {true, false}) {
    for (const auto& [id, thread] : threads_) {
      bool waits = !thread.waits.empty() && is_condition(thread.waits.back());
      if (waits == condition) restate_calls(id, thread, tell);
    }
  }
  for (const std::string& note : notes_) tell(ThreadId(1), Note{note});
}

}  // namespace svd
