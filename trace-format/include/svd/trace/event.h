// SPDX-License-Identifier: Apache-2.0
//
// What happened besides instructions. An Event stands between two block executions of the total
// order; its `seq` is that of the first instruction after it.
//
// Every event is one small struct that lists its fields once, in fields(); the binary codec, the
// textual form, the JSON form and the assembler are all made from that list. To add an event: a
// struct here, its place at the END of EventBody (the position is the number in the file), and a
// line in docs/trace-format.md. To add a field: at the end of fields().
//
// Strings and byte ranges are views: into the chunk when read (they live as long as the Chunk
// does), into the caller's memory when written.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "svd/trace/block.h"
#include "svd/trace/types.h"

namespace svd {

// A call that cannot block is one event, one that can is two.
enum class Phase : std::uint8_t { kWhole, kBegin, kEnd };

// The operations of threads on synchronisation objects, by what they mean rather than by library.
enum class SyncOp : std::uint8_t {
  kMutexInit,
  kMutexDestroy,
  kMutexLock,
  kMutexTrylock,
  kMutexTimedlock,
  kMutexUnlock,
  kRwlockRdlock,
  kRwlockTryrdlock,
  kRwlockTimedrdlock,
  kRwlockWrlock,
  kRwlockTrywrlock,
  kRwlockTimedwrlock,
  kRwlockUnlock,
  kSpinLock,
  kSpinTrylock,
  kSpinUnlock,
  kCondWait,
  kCondTimedwait,
  kCondSignal,
  kCondBroadcast,
  kSemWait,
  kSemTrywait,
  kSemTimedwait,
  kSemPost,
  kBarrierInit,
  kBarrierWait,
  kOnce,
  kFutexWait,
  kFutexWake,
  kMutexConsistent,
  kRwlockInit,
  kRwlockDestroy,
  kSpinInit,
  kSpinDestroy,
  kCondInit,
  kCondDestroy,
  kSemInit,
  kSemDestroy,
  kBarrierDestroy,
};

enum class AllocFn : std::uint8_t {
  kMalloc,
  kCalloc,
  kRealloc,
  kAligned,
  kNew,
  kNewArray,
  kFree,
  kDelete,
  kDeleteArray
};
enum class MapOp : std::uint8_t { kMap, kUnmap, kProtect, kRemap, kBreak };
enum class EndKind : std::uint8_t { kUnknown, kExit, kSignal, kExec };
enum class Access : std::uint8_t { kRead, kWrite };
enum class Edge : std::uint8_t { kBegin, kEnd };
// Why something is missing: it was lost, whoever recorded did not want what was before, or after,
// or this thread's part was left out afterwards.
enum class GapCause : std::uint8_t { kLoss, kBeforeWindow, kAfterWindow, kLeftOut };

struct ThreadStart {
  static constexpr std::string_view kName = "thread-start";
  ThreadId parent{};  // itself for the first thread
  std::uint32_t os_tid = 0;
  Addr stack_low{};  // [low, low + size); size 0: unknown
  std::uint64_t stack_size = 0;
  std::string_view name{};
  static constexpr void fields(auto& s, auto&& f) {
    f("parent", s.parent), f("os-tid", s.os_tid), f("stack", s.stack_low),
        f("stack-size", s.stack_size), f("name", s.name);
  }
};

struct ThreadName {
  static constexpr std::string_view kName = "thread-name";
  std::string_view name{};
  static constexpr void fields(auto& s, auto&& f) { f("name", s.name); }
};

struct ThreadExit {
  static constexpr std::string_view kName = "thread-exit";
  static constexpr void fields(auto&, auto&&) {}
};

// The parent's side: after this event `child` may run.
struct ThreadCreate {
  static constexpr std::string_view kName = "thread-create";
  ThreadId child{};
  Pc routine{};
  Pc caller{};
  static constexpr void fields(auto& s, auto&& f) {
    f("child", s.child), f("routine", s.routine), f("caller", s.caller);
  }
};

struct ThreadJoin {
  static constexpr std::string_view kName = "thread-join";
  ThreadId child{};
  Phase phase = Phase::kWhole;
  std::int64_t result = 0;
  Pc caller{};
  static constexpr void fields(auto& s, auto&& f) {
    f("child", s.child), f("phase", s.phase), f("result", s.result), f("caller", s.caller);
  }
};

struct ThreadDetach {
  static constexpr std::string_view kName = "thread-detach";
  ThreadId child{};
  static constexpr void fields(auto& s, auto&& f) { f("child", s.child); }
};

struct Sync {
  static constexpr std::string_view kName = "sync";
  SyncOp op = SyncOp::kMutexLock;
  Addr object{};
  Phase phase = Phase::kWhole;
  std::int64_t result = 0;     // the call's return value; on kBegin 0
  Addr second{};               // condition: the mutex
  std::uint64_t argument = 0;  // barrier: the count; mutex init: the kind; semaphore init: the
                               // value; once: the routine; futex: the value or the number woken
  Pc caller{};
  static constexpr void fields(auto& s, auto&& f) {
    f("op", s.op), f("object", s.object), f("phase", s.phase), f("result", s.result),
        f("second", s.second), f("argument", s.argument), f("caller", s.caller);
  }
};

// A block that its author declared atomic (a transaction of an imported log).
struct Atomic {
  static constexpr std::string_view kName = "atomic";
  Edge edge = Edge::kBegin;
  std::string_view name{};
  static constexpr void fields(auto& s, auto&& f) { f("edge", s.edge), f("name", s.name); }
};

// [address, address + size) came to life. A realloc is a Release and an Allocation.
struct Allocation {
  static constexpr std::string_view kName = "alloc";
  AllocFn function = AllocFn::kMalloc;
  Addr address{};
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  StackId stack = kNoStack;
  static constexpr void fields(auto& s, auto&& f) {
    f("function", s.function), f("address", s.address), f("size", s.size),
        f("alignment", s.alignment), f("stack", s.stack);
  }
};

struct Release {
  static constexpr std::string_view kName = "free";
  AllocFn function = AllocFn::kFree;
  Addr address{};
  StackId stack = kNoStack;
  static constexpr void fields(auto& s, auto&& f) {
    f("function", s.function), f("address", s.address), f("stack", s.stack);
  }
};

struct Mapping {
  static constexpr std::string_view kName = "map";
  MapOp op = MapOp::kMap;
  Addr address{};
  std::uint64_t size = 0;
  std::uint32_t protection = 0;  // PROT_*
  std::uint32_t flags = 0;       // MAP_*
  std::int32_t fd = -1;
  std::uint64_t file_offset = 0;
  Addr old_address{};  // kRemap, kBreak
  std::uint64_t old_size = 0;
  static constexpr void fields(auto& s, auto&& f) {
    f("op", s.op), f("address", s.address), f("size", s.size), f("protection", s.protection),
        f("flags", s.flags), f("fd", s.fd), f("file-offset", s.file_offset),
        f("old-address", s.old_address), f("old-size", s.old_size);
  }
};

struct SyscallEnter {
  static constexpr std::string_view kName = "syscall";
  std::uint32_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
  static constexpr void fields(auto& s, auto&& f) {
    f("number", s.number), f("a0", s.arguments[0]), f("a1", s.arguments[1]),
        f("a2", s.arguments[2]), f("a3", s.arguments[3]), f("a4", s.arguments[4]),
        f("a5", s.arguments[5]);
  }
};

struct SyscallExit {
  static constexpr std::string_view kName = "syscall-result";
  std::uint32_t number = 0;
  std::int64_t result = 0;  // -errno on failure
  static constexpr void fields(auto& s, auto&& f) { f("number", s.number), f("result", s.result); }
};

// The kernel read or wrote user memory on behalf of the thread. `data` holds the bytes or a prefix
// of them; it may be empty.
struct KernelAccess {
  static constexpr std::string_view kName = "kernel";
  Access access = Access::kWrite;
  Addr address{};
  std::uint64_t size = 0;
  std::span<const std::uint8_t> data{};
  static constexpr void fields(auto& s, auto&& f) {
    f("access", s.access), f("address", s.address), f("size", s.size), f("data", s.data);
  }
};

// A system call moved bytes between memory and a channel: a file, or one direction of a pipe or of
// a pair of sockets. A byte of a channel is the same in every transfer. What is told is what the
// process wrote to channels itself, and what it read of channels that it had written to.
struct Transfer {
  static constexpr std::string_view kName = "transfer";
  Access access = Access::kWrite;  // of memory: read, and so written to the channel, or written
  std::uint32_t channel = 0;       // 0: it is not known which, or where in it
  std::uint64_t position = 0;
  Addr address{};  // 0: from here on the channel's bytes are not what was written to them
  std::uint64_t size = 0;
  std::string_view name{};
  static constexpr void fields(auto& s, auto&& f) {
    f("access", s.access), f("channel", s.channel), f("position", s.position),
        f("address", s.address), f("size", s.size), f("name", s.name);
  }
};

// A signal reaches the thread, before its handler (if any) runs. When `fatal`, the process dies of
// it; for a fault the instruction at `pc` is the last one of the thread in the trace, and its
// accesses were attempted, not done.
struct Signal {
  static constexpr std::string_view kName = "signal";
  std::int32_t number = 0;
  std::int32_t code = 0;  // si_code
  Addr address{};         // of the fault
  Pc pc{};
  Pc handler{};
  bool fatal = false;
  static constexpr void fields(auto& s, auto&& f) {
    f("number", s.number), f("code", s.code), f("address", s.address), f("pc", s.pc),
        f("handler", s.handler), f("fatal", s.fatal);
  }
};

// Of a signal by which the processor tells that it could not execute an instruction.
constexpr bool is_fault(std::int32_t number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

struct SignalReturn {
  static constexpr std::string_view kName = "signal-return";
  std::int32_t number = 0;
  static constexpr void fields(auto& s, auto&& f) { f("number", s.number); }
};

struct Fork {
  static constexpr std::string_view kName = "fork";
  std::uint32_t child_pid = 0;
  std::string_view trace{};  // the child's trace file, when it has one
  static constexpr void fields(auto& s, auto&& f) {
    f("child-pid", s.child_pid), f("trace", s.trace);
  }
};

struct ModuleLoad {
  static constexpr std::string_view kName = "module-load";
  ModuleId module{};
  static constexpr void fields(auto& s, auto&& f) { f("module", s.module); }
};

struct ModuleUnload {
  static constexpr std::string_view kName = "module-unload";
  ModuleId module{};
  static constexpr void fields(auto& s, auto&& f) { f("module", s.module); }
};

// The process ended; the last event of a complete trace.
struct ProcessEnd {
  static constexpr std::string_view kName = "end";
  EndKind kind = EndKind::kUnknown;
  std::int32_t value = 0;  // exit status or signal number
  static constexpr void fields(auto& s, auto&& f) { f("kind", s.kind), f("value", s.value); }
};

// Something that ran here is not in the trace, and why. Counts are 0 where they are not known.
struct Gap {
  static constexpr std::string_view kName = "gap";
  std::string_view reason{};
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
  GapCause cause = GapCause::kLoss;
  static constexpr void fields(auto& s, auto&& f) {
    f("reason", s.reason), f("instructions", s.instructions), f("accesses", s.accesses),
        f("cause", s.cause);
  }
};

// A remark of the engine that the report repeats.
struct Note {
  static constexpr std::string_view kName = "note";
  std::string_view text{};
  static constexpr void fields(auto& s, auto&& f) { f("text", s.text); }
};

using EventBody = std::variant<ThreadStart, ThreadName, ThreadExit, ThreadCreate, ThreadJoin,
                               ThreadDetach, Sync, Atomic, Allocation, Release, Mapping,
                               SyscallEnter, SyscallExit, KernelAccess, Signal, SignalReturn, Fork,
                               ModuleLoad, ModuleUnload, ProcessEnd, Gap, Note, Transfer>;

// Kinds of events: bit k stands for alternative k of EventBody.
struct EventKinds {
  std::uint64_t bits = 0;

  EventKinds() = default;
  constexpr explicit EventKinds(std::uint64_t which) : bits(which) {}
  template <class... Kinds>
  static constexpr EventKinds of() {
    return EventKinds((bit<Kinds>() | ...));
  }
  // All kinds from 63 on have one bit.
  constexpr bool holds(std::size_t kind) const {
    return (bits >> std::min<std::size_t>(kind, 63) & 1) != 0;
  }
  constexpr bool any() const { return bits != 0; }
  friend constexpr EventKinds operator&(EventKinds a, EventKinds b) {
    return EventKinds(a.bits & b.bits);
  }
  friend constexpr EventKinds operator|(EventKinds a, EventKinds b) {
    return EventKinds(a.bits | b.bits);
  }
  friend constexpr EventKinds operator~(EventKinds a) { return EventKinds(~a.bits); }

 private:
  template <class Kind, std::size_t k = 0>
  static constexpr std::uint64_t bit() {
    if constexpr (std::is_same_v<std::variant_alternative_t<k, EventBody>, Kind>)
      return std::uint64_t{1} << k;
    else
      return bit<Kind, k + 1>();
  }
};
inline constexpr EventKinds kNoEvents{};
inline constexpr EventKinds kAllEvents = ~kNoEvents;

struct Event {
  Seq seq{};           // of the first instruction after it
  std::uint32_t exec;  // it stands before this execution of its chunk
  ThreadId thread{};
  EventBody body;
};

// Names of enumerators, in the order of their values. One overload for each enum that is a field;
// to_string and the parsers use it.
std::span<const std::string_view> names(Phase);
std::span<const std::string_view> names(SyncOp);
std::span<const std::string_view> names(AllocFn);
std::span<const std::string_view> names(MapOp);
std::span<const std::string_view> names(EndKind);
std::span<const std::string_view> names(Access);
std::span<const std::string_view> names(Edge);
std::span<const std::string_view> names(GapCause);
std::span<const std::string_view> names(Role);

template <class Enum>
std::string_view to_string(Enum value) {
  auto table = names(value);
  auto index = static_cast<std::size_t>(value);
  return index < table.size() ? table[index] : std::string_view("?");
}

}  // namespace svd
