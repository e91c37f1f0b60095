// SPDX-License-Identifier: Apache-2.0

#include "calls.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace svd {
namespace {

// When a call is told, seen from the function itself.
enum class Manner : std::uint8_t {
  kNone,   // means nothing to the trace
  kWaits,  // before and after
  kTakes,  // after
  kGives,  // before
};

enum class Kind : std::uint8_t { kOther, kSync, kAllocate, kRelease, kRealloc };

struct Meaning {
  Manner manner = Manner::kNone;
  Kind kind = Kind::kOther;
  SyncOp op = SyncOp::kMutexLock;
  bool has_second = false;  // word 2 is the call's: a mutex, a count, a routine
};

constexpr std::size_t kCalls = SVD_CALL_DELETE_ARRAY + 1;

constexpr std::array<Meaning, kCalls> make_meanings() {
  std::array<Meaning, kCalls> table{};
  auto sync = [&table](SvdWireCall call, Manner manner, SyncOp op, bool has_second = false) {
    table[call] = Meaning{manner, Kind::kSync, op, has_second};
  };
  using enum Manner;
  sync(SVD_CALL_MUTEX_INIT, kTakes, SyncOp::kMutexInit, true);
  sync(SVD_CALL_MUTEX_DESTROY, kGives, SyncOp::kMutexDestroy);
  sync(SVD_CALL_MUTEX_LOCK, kWaits, SyncOp::kMutexLock);
  sync(SVD_CALL_MUTEX_TRYLOCK, kTakes, SyncOp::kMutexTrylock);
  sync(SVD_CALL_MUTEX_TIMEDLOCK, kWaits, SyncOp::kMutexTimedlock);
  sync(SVD_CALL_MUTEX_UNLOCK, kGives, SyncOp::kMutexUnlock);
  sync(SVD_CALL_MUTEX_CONSISTENT, kTakes, SyncOp::kMutexConsistent);
  sync(SVD_CALL_RWLOCK_INIT, kTakes, SyncOp::kRwlockInit);
  sync(SVD_CALL_RWLOCK_DESTROY, kGives, SyncOp::kRwlockDestroy);
  sync(SVD_CALL_RWLOCK_RDLOCK, kWaits, SyncOp::kRwlockRdlock);
  sync(SVD_CALL_RWLOCK_TRYRDLOCK, kTakes, SyncOp::kRwlockTryrdlock);
  sync(SVD_CALL_RWLOCK_TIMEDRDLOCK, kWaits, SyncOp::kRwlockTimedrdlock);
  sync(SVD_CALL_RWLOCK_WRLOCK, kWaits, SyncOp::kRwlockWrlock);
  sync(SVD_CALL_RWLOCK_TRYWRLOCK, kTakes, SyncOp::kRwlockTrywrlock);
  sync(SVD_CALL_RWLOCK_TIMEDWRLOCK, kWaits, SyncOp::kRwlockTimedwrlock);
  sync(SVD_CALL_RWLOCK_UNLOCK, kGives, SyncOp::kRwlockUnlock);
  sync(SVD_CALL_SPIN_INIT, kTakes, SyncOp::kSpinInit);
  sync(SVD_CALL_SPIN_DESTROY, kGives, SyncOp::kSpinDestroy);
  sync(SVD_CALL_SPIN_LOCK, kWaits, SyncOp::kSpinLock);
  sync(SVD_CALL_SPIN_TRYLOCK, kTakes, SyncOp::kSpinTrylock);
  sync(SVD_CALL_SPIN_UNLOCK, kGives, SyncOp::kSpinUnlock);
  sync(SVD_CALL_COND_INIT, kTakes, SyncOp::kCondInit);
  sync(SVD_CALL_COND_DESTROY, kGives, SyncOp::kCondDestroy);
  sync(SVD_CALL_COND_WAIT, kWaits, SyncOp::kCondWait, true);
  sync(SVD_CALL_COND_TIMEDWAIT, kWaits, SyncOp::kCondTimedwait, true);
  sync(SVD_CALL_COND_SIGNAL, kGives, SyncOp::kCondSignal);
  sync(SVD_CALL_COND_BROADCAST, kGives, SyncOp::kCondBroadcast);
  sync(SVD_CALL_SEM_INIT, kTakes, SyncOp::kSemInit, true);
  sync(SVD_CALL_SEM_DESTROY, kGives, SyncOp::kSemDestroy);
  sync(SVD_CALL_SEM_WAIT, kWaits, SyncOp::kSemWait);
  sync(SVD_CALL_SEM_TRYWAIT, kTakes, SyncOp::kSemTrywait);
  sync(SVD_CALL_SEM_TIMEDWAIT, kWaits, SyncOp::kSemTimedwait);
  sync(SVD_CALL_SEM_POST, kGives, SyncOp::kSemPost);
  sync(SVD_CALL_BARRIER_INIT, kTakes, SyncOp::kBarrierInit, true);
  sync(SVD_CALL_BARRIER_DESTROY, kGives, SyncOp::kBarrierDestroy);
  sync(SVD_CALL_BARRIER_WAIT, kWaits, SyncOp::kBarrierWait);
  sync(SVD_CALL_ONCE, kWaits, SyncOp::kOnce, true);
  table[SVD_CALL_THREAD_CREATE] = {kWaits, Kind::kOther, {}, true};
  table[SVD_CALL_THREAD_JOIN] = {kWaits, Kind::kOther, {}, false};
  table[SVD_CALL_THREAD_DETACH] = {kGives, Kind::kOther, {}, false};
  table[SVD_CALL_THREAD_NAME] = {kTakes, Kind::kOther, {}, true};
  table[SVD_CALL_MALLOC] = {kTakes, Kind::kAllocate, {}, true};
  table[SVD_CALL_CALLOC] = {kTakes, Kind::kAllocate, {}, true};
  table[SVD_CALL_ALIGNED] = {kTakes, Kind::kAllocate, {}, true};
  table[SVD_CALL_REALLOC] = {kWaits, Kind::kRealloc, {}, true};
  table[SVD_CALL_FREE] = {kGives, Kind::kRelease, {}, false};
  return table;
}

constexpr std::array<Meaning, kCalls> kMeanings = make_meanings();

// Calls that never ended (a longjmp, a cancellation) must not pile up.
constexpr std::size_t kMaxOpen = 64;

bool is_allocator(SvdWireCall call) { return kMeanings[call].kind >= Kind::kAllocate; }

bool at_work(const ThreadState& thread) {
  return thread.cxx.call != SVD_CALL_NONE &&
         thread.stack.at(thread.cxx.frame.place) == thread.cxx.frame.return_address;
}

// What the thread's allocation or release is called by its program: the operator that makes it, if
// that is still at work, else `own`. An operator makes one.
AllocFn by_operator(ThreadState& thread, AllocFn own) {
  if (!at_work(thread)) return own;
  switch (std::exchange(thread.cxx, {}).call) {
    case SVD_CALL_NEW:
      return own == AllocFn::kFree ? own : AllocFn::kNew;
    case SVD_CALL_NEW_ARRAY:
      return own == AllocFn::kFree ? own : AllocFn::kNewArray;
    case SVD_CALL_DELETE:
      return own == AllocFn::kFree ? AllocFn::kDelete : own;
    case SVD_CALL_DELETE_ARRAY:
      return own == AllocFn::kFree ? AllocFn::kDeleteArray : own;
    default:
      return own;
  }
}

AllocFn allocator_of(SvdWireCall call) {
  switch (call) {
    case SVD_CALL_CALLOC:
      return AllocFn::kCalloc;
    case SVD_CALL_ALIGNED:
      return AllocFn::kAligned;
    default:
      return AllocFn::kMalloc;
  }
}

// From the first three arguments of a C function to the words that its doorbell would have told.
void arrange(LibraryCall& call) {
  std::uint64_t first = call.object;
  switch (call.call) {
    case SVD_CALL_MALLOC:
      call.second = first;
      break;
    case SVD_CALL_CALLOC:
      call.second = first * call.second;
      break;
    case SVD_CALL_ALIGNED:
      call.third = first;
      break;
    case SVD_CALL_THREAD_CREATE:
    case SVD_CALL_SEM_INIT:
    case SVD_CALL_BARRIER_INIT:
      call.second = call.third;
      break;
    case SVD_CALL_MUTEX_INIT:
      call.second = 0;  // an attribute; its kind is not told
      break;
    default:
      break;
  }
}

}  // namespace

void Calls::ring(ThreadState& thread, std::uint64_t doorbell) {
  auto number = static_cast<std::size_t>(doorbell & 0xff);
  if (number == SVD_CALL_NONE || number >= kCalls) return;
  LibraryCall call;
  call.call = static_cast<SvdWireCall>(number);
  const auto& words = thread.mailbox;
  call.object = words[1];
  if (kMeanings[number].has_second) {
    call.second = words[2];
    call.third = words[3];
  }
  call.caller = words[4];
  auto result = static_cast<std::int32_t>(doorbell >> 32U);
  switch ((doorbell >> 8U) & 0xff) {
    case SVD_PHASE_WHOLE:
      return whole(thread, call, result);
    case SVD_PHASE_BEGIN:
      return begin(thread, call);
    case SVD_PHASE_END:
      return end(thread, call.call, result);
    case SVD_PHASE_ENTRY:
      call.second = words[2];
      call.third = words[3];
      call.stack_pointer = words[5];
      return enter(thread, call);
    case SVD_PHASE_RETURN:
      return leave(thread, call.call, words[1], words[5]);
    default:
      return;
  }
}

bool Calls::inside_library(const ThreadState& thread) {
  return !thread.open.empty() && thread.open.back().call != SVD_CALL_ONCE;
}

void Calls::open(ThreadState& thread, const LibraryCall& call) {
  if (thread.open.size() >= kMaxOpen) thread.open.erase(thread.open.begin());
  thread.open.push_back(call);
  if (call.call == SVD_CALL_REALLOC) ++open_reallocs_;
}

void Calls::whole(ThreadState& thread, const LibraryCall& call, std::int64_t result) {
  thread.told = call;
  switch (kMeanings[call.call].kind) {
    case Kind::kAllocate:
      return allocate(thread, by_operator(thread, allocator_of(call.call)), call.object,
                      call.second, call.call == SVD_CALL_ALIGNED ? call.third : 0);
    case Kind::kRelease:
      return release(thread, by_operator(thread, AllocFn::kFree), call.object);
    default:
      return tell(thread, call, Phase::kWhole, result);
  }
}

void Calls::begin(ThreadState& thread, const LibraryCall& call) {
  open(thread, call);
  if (call.call != SVD_CALL_REALLOC) tell(thread, call, Phase::kBegin, 0);
}

void Calls::end(ThreadState& thread, SvdWireCall call, std::int64_t result) {
  for (std::size_t i = thread.open.size(); i-- > 0;) {
    if (thread.open[i].call != call) continue;
    LibraryCall begun = thread.open[i];
    thread.open.resize(i);
    if (call == SVD_CALL_REALLOC) return end_realloc(thread, begun, thread.mailbox[1]);
    return tell(thread, begun, Phase::kEnd, result);
  }
  // It was told whole before it was done, and then failed.
  if (thread.told.call == call) tell(thread, thread.told, Phase::kEnd, result);
}

void Calls::enter_operator(ThreadState& thread, SvdWireCall call) {
  // new[] calls new, and a sized delete the other one: the outermost is what the program wrote.
  if (!at_work(thread) && !thread.stack.entries().empty())
    thread.cxx = {call, thread.stack.entries().back()};
}

void Calls::enter(ThreadState& thread, LibraryCall call) {
  if (call.call > SVD_CALL_FREE) return enter_operator(thread, call.call);
  arrange(call);
  // One that was jumped to returns where no call of it is known to return.
  while (!thread.open.empty() && is_allocator(thread.open.back().call) &&
         thread.open.back().stack_pointer != 0 &&
         thread.stack.at(thread.open.back().stack_pointer) == 0)
    thread.open.pop_back();
  call.caller = thread.stack.caller();
  for (const LibraryCall& outer : thread.open)
    call.nested |= is_allocator(call.call) && is_allocator(outer.call);
  if (!call.nested) {
    Manner manner = kMeanings[call.call].manner;
    if (manner == Manner::kGives) whole(thread, call, 0);
    if (manner == Manner::kWaits && call.call != SVD_CALL_REALLOC)
      tell(thread, call, Phase::kBegin, 0);
  }
  open(thread, call);
}

void Calls::leave(ThreadState& thread, SvdWireCall call, std::uint64_t result,
                  std::uint64_t stack_pointer) {
  while (!thread.open.empty() && thread.open.back().stack_pointer != 0 &&
         thread.open.back().stack_pointer + 8 < stack_pointer)
    thread.open.pop_back();
  if (thread.open.empty()) return;
  LibraryCall begun = thread.open.back();
  if (begun.call != call || begun.stack_pointer + 8 != stack_pointer) return;
  thread.open.pop_back();
  if (begun.nested) return;
  auto status = static_cast<std::int32_t>(result);
  switch (kMeanings[call].manner) {
    case Manner::kWaits:
      if (call == SVD_CALL_REALLOC) return end_realloc(thread, begun, result);
      return tell(thread, begun, Phase::kEnd, status);
    case Manner::kTakes:
      if (is_allocator(call)) begun.object = result;
      return whole(thread, begun, status);
    case Manner::kGives:
      if (call != SVD_CALL_FREE && status != 0) tell(thread, begun, Phase::kEnd, status);
      return;
    case Manner::kNone:
      return;
  }
}

void Calls::tell(ThreadState& thread, const LibraryCall& call, Phase phase, std::int64_t result) {
  Pc caller(call.caller);
  switch (call.call) {
    case SVD_CALL_THREAD_JOIN:
      return feed_.event(thread.id,
                         ThreadJoin{threads_.by_self(call.object), phase, result, caller});
    case SVD_CALL_THREAD_DETACH:
      if (phase == Phase::kWhole)
        feed_.event(thread.id, ThreadDetach{threads_.by_self(call.object)});
      return;
    case SVD_CALL_THREAD_NAME: {
      // A thread that names itself does it by a system call, which is told, too.
      if (call.object == thread.self || threads_.by_self(call.object) == ThreadId()) return;
      std::array<char, 17> name{};
      std::memcpy(name.data(), &call.second, 8);
      std::memcpy(name.data() + 8, &call.third, 8);
      return feed_.event(threads_.by_self(call.object), ThreadName{name.data()});
    }
    default:
      break;
  }
  const Meaning& meaning = kMeanings[call.call];
  if (meaning.kind != Kind::kSync) return;
  Sync sync{meaning.op, Addr(call.object), phase, result, {}, 0, caller};
  if (meaning.has_second) {
    bool is_mutex = meaning.op == SyncOp::kCondWait || meaning.op == SyncOp::kCondTimedwait;
    if (is_mutex)
      sync.second = Addr(call.second);
    else
      sync.argument = call.second;
  }
  feed_.event(thread.id, sync);
}

void Calls::allocate(ThreadState& thread, AllocFn function, std::uint64_t address,
                     std::uint64_t size, std::uint64_t alignment) {
  if (address == 0) return;
  // A realloc of another thread has let go of this place, but has not come to say so.
  for (std::size_t i = 0; open_reallocs_ > 0 && i < threads_.all().size(); ++i) {
    ThreadState* other = threads_.all()[i].get();
    if (other == nullptr || other == &thread) continue;
    for (LibraryCall& call : other->open) {
      if (call.call != SVD_CALL_REALLOC || call.object != address) continue;
      release(*other, AllocFn::kRealloc, address);
      call.object = 0;
    }
  }
  feed_.event(thread.id,
              Allocation{function, Addr(address), size, alignment, stacks_.add(thread.stack)});
}

void Calls::release(ThreadState& thread, AllocFn function, std::uint64_t address) {
  if (address == 0) return;
  feed_.event(thread.id, Release{function, Addr(address), stacks_.add(thread.stack)});
}

void Calls::end_realloc(ThreadState& thread, const LibraryCall& begun, std::uint64_t address) {
  if (open_reallocs_ > 0) --open_reallocs_;
  if (address == 0 && begun.second != 0) return;  // failed: the old one lives on
  release(thread, AllocFn::kRealloc, begun.object);
  allocate(thread, AllocFn::kRealloc, address, begun.second, 0);
}

}  // namespace svd
