/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls and what the kernel reads and writes on their behalf; also the signal frames that
 * Valgrind writes in the kernel's place. Order in the log: call, reads, writes, result.
 */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "svd_tool.h"

enum { CHUNK = 32 << 10, NAME_BYTES = 16, PATH_BYTES = 4096 };

static Bool readable(Addr address, SizeT size) {
  return VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ);
}

/* Length of the client's string at `address`, at most `max`, without touching what is not there. */
static SizeT string_length(Addr address, SizeT max) {
  SizeT n = 0;
  while (n < max && ((n > 0 && (address + n) % VKI_PAGE_SIZE != 0) || readable(address + n, 1)) &&
         ((const HChar*)address)[n] != 0) {
    n++;
  }
  return n;
}

Bool svd_client_string_is(Addr address, const HChar* text) {
  SizeT length = VG_(strlen)(text);
  return string_length(address, length + 1) == length &&
         VG_(strncmp)((const HChar*)address, text, length) == 0;
}

static void log_text(UInt type, ThreadId tid, Addr text, SizeT max) {
  UInt length = string_length(text, max);
  SvdWireRecord* r = svd_log_record(type, tid, svd_padded(sizeof(*r) + length), length);
  if (!r) return;
  VG_(memcpy)(r + 1, (const void*)text, length);
  svd_log_commit();
}

/* Valgrind takes every call of futex for one that writes the word; only those on locks that hand on
 * priority do. By thread: whether the call under way is another one. */
static Bool* leaves_word;

static void note_futex(ThreadId tid, UInt number, const UWord* args) {
  if (!leaves_word) leaves_word = VG_(calloc)("svd.futex", VG_N_THREADS, sizeof(Bool));
  leaves_word[tid] = False;
  if (number != __NR_futex) return;
  UWord operation = args[1] & ~(UWord)(VKI_FUTEX_PRIVATE_FLAG | VKI_FUTEX_CLOCK_REALTIME);
  leaves_word[tid] = operation < VKI_FUTEX_LOCK_PI || operation == VKI_FUTEX_WAIT_BITSET ||
                     operation == VKI_FUTEX_WAKE_BITSET;
}

void svd_syscall(ThreadId tid, UInt number, UWord* args, UInt n_args) {
  svd_log_retranslate();
  svd_window_poll();
  note_futex(tid, number, args);
  SvdWireSyscall* r = svd_log_record(SVD_WIRE_SYSCALL, tid, sizeof(*r), 0);
  if (r) {
    r->number = number;
    for (UInt i = 0; i < 6 && i < n_args; i++) r->arguments[i] = args[i];
    svd_log_commit();
  }
  if (number == __NR_prctl && args[0] == VKI_PR_SET_NAME) {
    log_text(SVD_WIRE_THREAD_NAME, tid, args[1], NAME_BYTES);
  }
  if (number == __NR_execve) log_text(SVD_WIRE_EXEC, tid, args[0], PATH_BYTES);
  if (number == __NR_execveat) log_text(SVD_WIRE_EXEC, tid, args[1], PATH_BYTES);
  if (number == __NR_exit || number == __NR_exit_group) svd_exits(args[0]);
  if (number == __NR_kill || number == __NR_tkill) svd_kills(args[1]);
  if (number == __NR_tgkill) svd_kills(args[2]);
  if (number == __NR_set_tid_address) svd_set_clear_tid(tid, args[0]);
  if (number == __NR_clone) {
    svd_clones(args[0] & VKI_CLONE_CHILD_CLEARTID ? args[3] : 0,
               args[0] & VKI_CLONE_SETTLS ? args[4] : 0);
  }
  svd_transfer_begins(tid, number, args);
  /* The call may never return: exec, or a fatal signal that does not let us run. */
  svd_log_publish();
}

static Bool makes_process(UInt number, const UWord* args) {
  return number == __NR_fork || number == __NR_vfork ||
         (number == __NR_clone && !(args[0] & VKI_CLONE_THREAD));
}

void svd_syscall_exit(ThreadId tid, UInt number, UWord* args, UInt n_args, SysRes result) {
  svd_window_poll();
  svd_transfer_ends(tid, number, args, result);
  SvdWireSyscallExit* r = svd_log_record(SVD_WIRE_SYSCALL_EXIT, tid, sizeof(*r), 0);
  if (r) {
    r->number = number;
    r->result = sr_isError(result) ? -(Long)sr_Err(result) : (Long)sr_Res(result);
    svd_log_commit();
  }
  if (number == __NR_execve || number == __NR_execveat) {
    if (svd_log_record(SVD_WIRE_EXEC, tid, sizeof(SvdWireRecord), 0)) svd_log_commit();
  }
  if (number == __NR_rt_sigaction && !sr_isError(result) && readable(args[1], sizeof(Addr))) {
    svd_sets_handler(args[0], args[1]);
  }
  if (makes_process(number, args) && !sr_isError(result) && sr_Res(result) != 0) {
    SvdWireFork* f = svd_log_record(SVD_WIRE_FORK, tid, sizeof(*f), 0);
    if (!f) return;
    f->child_pid = sr_Res(result);
    f->recorded = svd_follow;
    svd_log_commit();
  }
}

/* Of the client's memory at `address` what the kernel can read: a call may ask for more than there
 * is, a negative size for most of the address space, and is served as far as memory goes. */
static SizeT readable_part(Addr address, SizeT size) {
  if (readable(address, size)) return size;
  SizeT part = 0;
  while (part < size && readable(address + part, 1)) {
    const NSegment* segment = VG_(am_find_nsegment)(address + part);
    part = segment->end + 1 - address;
  }
  return part < size ? part : size;
}

void svd_kernel_read(CorePart part, ThreadId tid, const HChar* what, Addr address, SizeT size) {
  if (part == Vg_CoreTranslate) return; /* VEX, reading code */
  size = readable_part(address, size);
  if (size == 0) return;
  SvdWireRange* r = svd_log_record(SVD_WIRE_KERNEL_READ, tid, sizeof(*r), 0);
  if (!r) return;
  r->address = address;
  r->size = size;
  svd_log_commit();
}

void svd_kernel_read_string(CorePart part, ThreadId tid, const HChar* what, Addr address) {
  svd_kernel_read(part, tid, what, address, string_length(address, PATH_BYTES) + 1);
}

void svd_log_kernel_write(ThreadId tid, Addr address, SizeT size, const UChar* bytes) {
  UInt with = svd_values && bytes ? size : 0;
  SvdWireRange* r = svd_log_record(SVD_WIRE_KERNEL_WRITE, tid, svd_padded(sizeof(*r) + with), with);
  if (!r) return;
  r->address = address;
  r->size = size;
  VG_(memcpy)(r + 1, bytes, with);
  svd_log_commit();
}

void svd_kernel_write(CorePart part, ThreadId tid, Addr address, SizeT size) {
  if (part == Vg_CoreSysCall && leaves_word && leaves_word[tid]) return;
  Bool known = readable(address, size);
  for (SizeT n; size > 0; address += n, size -= n) {
    n = size < CHUNK ? size : CHUNK;
    svd_log_kernel_write(tid, address, n, known ? (const UChar*)address : NULL);
  }
  if (part == Vg_CoreSignal) svd_signal_frame(tid, address);
}
