// SPDX-License-Identifier: Apache-2.0
//
// Translator: every record that is not an execution becomes an event of the trace.

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "translator.h"

namespace svd {
namespace {

// Records are unaligned, so they are copied.
SvdWireRecord head_of(const std::uint8_t* bytes) {
  SvdWireRecord record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

// The text or data behind a record of `head` bytes.
std::string_view text_of(const std::uint8_t* bytes, std::size_t head) {
  SvdWireRecord record = head_of(bytes);
  if (record.size < head) return {};
  std::size_t size = std::min<std::size_t>(record.text_size, record.size - head);
  return {reinterpret_cast<const char*>(bytes + head), size};
}

template <class T>
std::optional<T> as(const std::uint8_t* bytes) {
  if (head_of(bytes).size < sizeof(T)) return std::nullopt;
  T record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

// How deep below the program's frame the C library can be inside a call that we interpose.
constexpr std::size_t kLibraryDepth = 6;

}  // namespace

bool Translator::record(const std::uint8_t* bytes, const std::uint8_t* next) {
  auto with = [](auto&& handle, const auto& record) {
    if (!record) return false;
    handle(*record);
    return true;
  };
  const SvdWireRecord head = head_of(bytes);
  switch (head.type) {
    case SVD_WIRE_BLOCK:
      define(bytes);
      return true;
    case SVD_WIRE_SWITCH:
      threads_.run(head.tid);
      current_ = &threads_.at(head.tid);
      feed_.run(current_->id);
      return true;
    case SVD_WIRE_THREAD_CREATE:
      return with([this](const auto& r) { thread_create(r); }, as<SvdWireThreadCreate>(bytes));
    case SVD_WIRE_THREAD_START:
      return with([this](const auto& r) { thread_start(r); }, as<SvdWireThreadStart>(bytes));
    case SVD_WIRE_THREAD_EXIT:
      thread_exit(head.tid);
      return true;
    case SVD_WIRE_SYSCALL:
      return with([this](const auto& r) { system_call(r); }, as<SvdWireSyscall>(bytes));
    case SVD_WIRE_SYSCALL_EXIT:
      return with([this](const auto& r) { system_call_exit(r); }, as<SvdWireSyscallExit>(bytes));
    case SVD_WIRE_SIGNAL:
      return with([this, next](const auto& r) { signal(r, next); }, as<SvdWireSignal>(bytes));
    case SVD_WIRE_MAP:
    case SVD_WIRE_PROTECT:
      return with(
          [this, bytes](const auto& r) { map(r, std::string(text_of(bytes, sizeof(SvdWireMap)))); },
          as<SvdWireMap>(bytes));
    default:
      other(bytes);
      return !damaged_;
  }
}

void Translator::thread_create(const SvdWireThreadCreate& create) {
  // The first thread of the process has no maker.
  if (create.record.tid == 0) {
    current_ = &threads_.at(create.child);
    return;
  }
  ThreadState& parent = threads_.at(create.record.tid);
  ThreadState& child = threads_.create(create.child, parent.id);
  // Its pthread_t is its thread pointer; others may join it before it starts to run.
  threads_.know(child, create.self);
  ThreadCreate event{child.id, Pc(), Pc()};
  for (const LibraryCall& call : parent.open) {
    if (call.call != SVD_CALL_THREAD_CREATE) continue;
    event.routine = Pc(call.second);
    event.caller = Pc(call.caller);
  }
  feed_.event(parent.id, event);
}

void Translator::thread_start(const SvdWireThreadStart& start) {
  ThreadState& thread = threads_.at(start.record.tid);
  thread.started = true;
  threads_.know(thread, start.self);
  if (current_ == nullptr) current_ = &thread;
  ThreadStart event;
  event.parent = thread.parent;
  event.os_tid = start.os_tid;
  event.stack_size = start.stack_size;
  if (start.stack_size != 0) event.stack_low = Addr(start.stack_top + 1 - start.stack_size);
  if (thread.id == thread.parent) event.name = name_;
  feed_.event(thread.id, event);
}

void Translator::thread_exit(std::uint32_t number) {
  ThreadState& thread = threads_.at(number);
  if (thread.started) feed_.event(thread.id, ThreadExit{});
  thread.started = false;
}

void Translator::system_call(const SvdWireSyscall& call) {
  ThreadState& thread = threads_.at(call.record.tid);
  SyscallEnter event;
  event.number = static_cast<std::uint32_t>(call.number);
  std::copy_n(call.arguments, event.arguments.size(), event.arguments.begin());
  thread.syscall_number = call.number;
  thread.syscall_arguments = event.arguments;
  thread.in_syscall = true;
  feed_.event(thread.id, event);
  if (call.number == SYS_futex) futex_call(thread, true, 0);
}

void Translator::system_call_exit(const SvdWireSyscallExit& exit) {
  ThreadState& thread = threads_.at(exit.record.tid);
  if (exit.number == SYS_futex && thread.in_syscall) futex_call(thread, false, exit.result);
  thread.in_syscall = false;
  if (exit.number == SYS_exit || exit.number == SYS_exit_group) return;  // so Valgrind ends threads
  feed_.event(thread.id, SyscallExit{static_cast<std::uint32_t>(exit.number), exit.result});
}

// Only the program's own futexes are synchronisation; those of the C library's calls are how it
// does what has been told already.
void Translator::futex_call(ThreadState& thread, bool begins, std::int64_t result) {
  if (Calls::inside_library(thread)) return;
  const auto& frames = thread.stack.entries();
  std::size_t depth = std::min(frames.size(), kLibraryDepth);
  for (std::size_t i = 1; i <= depth; ++i) {
    if (modules_.in_preload(frames[frames.size() - i].return_address)) return;
  }
  const auto& arguments = thread.syscall_arguments;
  Sync sync;
  sync.object = Addr(arguments[0]);
  sync.argument = static_cast<std::uint32_t>(arguments[2]);
  switch (arguments[1] & static_cast<std::uint32_t>(FUTEX_CMD_MASK)) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      sync.op = SyncOp::kFutexWait;
      sync.phase = begins ? Phase::kBegin : Phase::kEnd;
      sync.result = result;
      break;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      if (!begins) return;
      sync.op = SyncOp::kFutexWake;
      break;
    default:
      return;
  }
  feed_.event(thread.id, sync);
}

void Translator::signal(const SvdWireSignal& signal, const std::uint8_t* next) {
  ThreadState& thread = threads_.at(signal.record.tid);
  Signal event{signal.number, signal.code, Addr(), Pc(signal.pc), Pc(), false};
  // Of a signal that was sent, the place of the address holds who sent it.
  if (signal.code > 0) event.address = Addr(signal.address);
  if (next != nullptr) {
    const SvdWireRecord head = head_of(next);
    if (head.type == SVD_WIRE_FATAL) {
      event.fatal = true;
      fatal_thread_ = thread.id;
    } else if (head.type == SVD_WIRE_HANDLER && head.tid == signal.record.tid) {
      if (auto handler = as<SvdWireHandler>(next)) event.handler = Pc(handler->handler);
    }
  }
  feed_.event(thread.id, event);
}

void Translator::map(const SvdWireMap& map, const std::string& path) {
  bool protect = map.record.type == SVD_WIRE_PROTECT;
  ThreadState& thread = threads_.current();
  Mapping event;
  event.op = protect ? MapOp::kProtect : MapOp::kMap;
  event.address = Addr(map.address);
  event.size = map.size;
  event.protection = map.protection;
  event.file_offset = map.file_offset;
  if (!protect && map.initial == 0 && thread.in_syscall && thread.syscall_number == SYS_mmap) {
    event.flags = static_cast<std::uint32_t>(thread.syscall_arguments[3]);
    event.fd = static_cast<std::int32_t>(thread.syscall_arguments[4]);
  }
  feed_.event(thread.id, event);
  if (protect) return;
  modules_.map(thread.id, map.address, map.size, map.file_offset, map.protection, path);
}

void Translator::other(const std::uint8_t* bytes) {
  const SvdWireRecord head = head_of(bytes);
  ThreadState& thread = threads_.at(head.tid);
  auto text = text_of(bytes, sizeof(SvdWireRecord));
  switch (head.type) {
    case SVD_WIRE_THREAD_NAME:
      return feed_.event(thread.id, ThreadName{text.substr(0, text.find('\0'))});
    case SVD_WIRE_EXEC:
      exec_path_ = text;
      return;
    case SVD_WIRE_WINDOW:
      if (auto edge = as<SvdWireWindow>(bytes)) window(*edge, text_of(bytes, sizeof(*edge)));
      return;
    default:
      break;
  }
  if (auto moved = as<SvdWireTransfer>(bytes); head.type == SVD_WIRE_TRANSFER && moved) {
    return feed_.event(thread.id, Transfer{moved->out != 0 ? Access::kRead : Access::kWrite,
                                           moved->channel, moved->position, Addr(moved->address),
                                           moved->size, text_of(bytes, sizeof(*moved))});
  }
  auto range = as<SvdWireRange>(bytes);
  if (head.type == SVD_WIRE_KERNEL_READ && range) {
    feed_.event(thread.id, KernelAccess{Access::kRead, Addr(range->address), range->size, {}});
  } else if (head.type == SVD_WIRE_KERNEL_WRITE && range) {
    auto data = text_of(bytes, sizeof(SvdWireRange));
    feed_.event(thread.id,
                KernelAccess{Access::kWrite,
                             Addr(range->address),
                             range->size,
                             {reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}});
  } else if (head.type == SVD_WIRE_UNMAP && range) {
    Mapping event;
    event.op = MapOp::kUnmap;
    event.address = Addr(range->address);
    event.size = range->size;
    feed_.event(thread.id, event);
    modules_.unmap(thread.id, range->address, range->size);
  } else if (head.type == SVD_WIRE_BREAK && range) {
    Mapping event;
    event.op = MapOp::kBreak;
    event.address = Addr(range->address);
    event.size = range->size;
    event.protection = 3;  // readable and writable
    feed_.event(thread.id, event);
  } else if (auto moved = as<SvdWireRemap>(bytes); head.type == SVD_WIRE_REMAP && moved) {
    Mapping event;
    event.op = MapOp::kRemap;
    event.address = Addr(moved->address);
    event.size = moved->size;
    event.old_address = Addr(moved->old_address);
    event.old_size = thread.in_syscall && thread.syscall_number == SYS_mremap
                         ? thread.syscall_arguments[1]
                         : moved->size;
    feed_.event(thread.id, event);
  } else if (auto handler = as<SvdWireHandler>(bytes);
             head.type == SVD_WIRE_HANDLER_END && handler) {
    feed_.event(thread.id, SignalReturn{handler->number});
  } else if (auto fork = as<SvdWireFork>(bytes); head.type == SVD_WIRE_FORK && fork) {
    std::string trace;
    if (fork->recorded != 0) {
      trace = child_trace_(fork->child_pid);
      recorded_children_.push_back(fork->child_pid);
    }
    feed_.event(thread.id, Fork{fork->child_pid, trace});
  } else if (auto over = as<SvdWireEnd>(bytes); head.type == SVD_WIRE_END && over) {
    ended_ = true;
    end_kind_ = over->signal != 0 ? EndKind::kSignal : EndKind::kExit;
    end_value_ = over->signal != 0 ? over->signal : over->status;
  }
}

void Translator::window(const SvdWireWindow& window, std::string_view what) {
  ThreadId thread = threads_.current().id;
  switch (window.edge) {
    case SVD_WINDOW_AWAITED:
      awaited_ = what;
      return feed_.event(thread, Gap{fmt::format("recorded from --start-at={} on", what), 0, 0,
                                     GapCause::kBeforeWindow});
    case SVD_WINDOW_BEGINS:
      awaited_.clear();
      return note(
          fmt::format("what was locked or allocated before --start-at={} is not known", what));
    default:
      return feed_.event(thread, Gap{fmt::format("recorded up to --stop-at={}", what), 0, 0,
                                     GapCause::kAfterWindow});
  }
}

void Translator::note(std::string_view text) { feed_.event(threads_.current().id, Note{text}); }

void Translator::gap(std::string_view reason) {
  feed_.event(threads_.current().id, Gap{reason, 0, 0, GapCause::kLoss});
}

void Translator::end(EndKind kind, std::int32_t value) {
  end_kind_ = kind;
  end_value_ = value;
  feed_.event(threads_.current().id, ProcessEnd{kind, value});
}

}  // namespace svd
