/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Life of threads and of forked children. Thread numbers are Valgrind's and are used again after a
 * thread's end; the reader tells their lives apart by the start and exit records.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "svd_core.h"
#include "svd_tool.h"

enum { NAME_BYTES = 17 }; /* fifteen, a newline, and air */

/* By thread: where the kernel stores 0 when the thread is gone (what pthread_join waits for). */
static Addr* clear_tid;
static Addr next_clear_tid; /* of the thread that the clone under way makes */
static Addr next_self;

/* By thread: the kernel's number of it, 0 when it does not live. */
static Int* os_tids;
/* A thread can have been named before it ran, and that was not told. */
static Bool names_missed;
/* What the kernel calls a thread that nobody has named: after Valgrind's executable. */
static HChar unnamed[NAME_BYTES];

/* The name of thread `os_tid`, as /proc has it; "" if it does not. */
static void read_name(Int os_tid, HChar* name) {
  HChar path[64];
  VG_(snprintf)(path, sizeof(path), "/proc/self/task/%d/comm", os_tid);
  Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
  Int n = fd < 0 ? 0 : VG_(read)(fd, name, NAME_BYTES);
  if (fd >= 0) VG_(close)(fd);
  name[n > 0 ? n - 1 : 0] = 0; /* in place of the newline */
}

static void note_life(ThreadId tid, Int os_tid) {
  if (!os_tids) {
    os_tids = VG_(calloc)("svd.os_tids", VG_N_THREADS, sizeof(Int));
    read_name(os_tid, unnamed);
  }
  os_tids[tid] = os_tid;
}

static void log_name(ThreadId tid) {
  HChar name[NAME_BYTES];
  read_name(os_tids[tid], name);
  if (name[0] == 0 || VG_STREQ(name, unnamed)) return;
  UInt length = VG_(strlen)(name);
  SvdWireRecord* r =
      svd_log_record(SVD_WIRE_THREAD_NAME, tid, svd_padded(sizeof(*r) + length), length);
  if (!r) return;
  VG_(memcpy)(r + 1, name, length);
  svd_log_commit();
}

void svd_log_thread_names(void) {
  names_missed = True;
  for (ThreadId tid = 1; os_tids && tid < VG_N_THREADS; tid++) {
    if (os_tids[tid] != 0) log_name(tid);
  }
}

void svd_set_clear_tid(ThreadId tid, Addr address) {
  if (!clear_tid) clear_tid = VG_(calloc)("svd.clear_tid", VG_N_THREADS, sizeof(Addr));
  clear_tid[tid] = address;
}

void svd_clones(Addr clears, Addr self) {
  next_clear_tid = clears;
  next_self = self;
}

void svd_thread_create(ThreadId tid, ThreadId child) {
  svd_set_clear_tid(child, next_clear_tid);
  SvdWireThreadCreate* r = svd_log_record(SVD_WIRE_THREAD_CREATE, tid, sizeof(*r), 0);
  if (!r) return;
  r->child = child;
  r->self = next_self;
  svd_log_commit();
}

void svd_thread_first_instruction(ThreadId tid) {
  note_life(tid, VG_(gettid)());
  SvdWireThreadStart* r = svd_log_record(SVD_WIRE_THREAD_START, tid, sizeof(*r), 0);
  if (!r) return;
  r->os_tid = os_tids[tid];
  const PtrdiffT fs = offsetof(VexGuestAMD64State, guest_FS_CONST);
  VG_(get_shadow_regs_area)(tid, (UChar*)&r->self, 0, fs, sizeof(r->self));
  r->stack_pointer = VG_(get_SP)(tid);
  r->stack_top = VG_(thread_get_stack_max)(tid);
  r->stack_size = VG_(thread_get_stack_size)(tid);
  svd_log_commit();
  if (names_missed) log_name(tid);
}

void svd_thread_exit(ThreadId tid) {
  os_tids[tid] = 0;
  if (svd_log_record(SVD_WIRE_THREAD_EXIT, tid, sizeof(SvdWireRecord), 0)) svd_log_commit();
  if (!clear_tid[tid]) return;
  UInt zero = 0;
  svd_log_kernel_write(tid, clear_tid[tid], sizeof(zero), (const UChar*)&zero);
}

void svd_fork_child(ThreadId tid) {
  if (!svd_recording) return;
  if (svd_follow) {
    svd_log_reopen();
    svd_transfer_forked();
    svd_log_all_maps();
    svd_thread_first_instruction(tid);
  } else {
    svd_log_detach(True);
    VG_(clo_trace_children) = False;
  }
  svd_log_retranslate();
}
