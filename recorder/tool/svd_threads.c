/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Life of threads and of forked children. Thread numbers are Valgrind's and are used again after a
 * thread's end; the reader tells their lives apart by the start and exit records.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "svd_core.h"
#include "svd_tool.h"

/* By thread: where the kernel stores 0 when the thread is gone (what pthread_join waits for). */
static Addr* clear_tid;
static Addr next_clear_tid; /* of the thread that the clone under way makes */

void svd_set_clear_tid(ThreadId tid, Addr address) {
  if (!clear_tid) clear_tid = VG_(calloc)("svd.clear_tid", VG_N_THREADS, sizeof(Addr));
  clear_tid[tid] = address;
}

void svd_clone_clears(Addr address) { next_clear_tid = address; }

void svd_thread_create(ThreadId tid, ThreadId child) {
  svd_set_clear_tid(child, next_clear_tid);
  SvdWireThreadCreate* r = svd_log_record(SVD_WIRE_THREAD_CREATE, tid, sizeof(*r), 0);
  if (!r) return;
  r->child = child;
  svd_log_commit();
}

void svd_thread_first_instruction(ThreadId tid) {
  SvdWireThreadStart* r = svd_log_record(SVD_WIRE_THREAD_START, tid, sizeof(*r), 0);
  if (!r) return;
  r->os_tid = VG_(gettid)();
  const PtrdiffT fs = offsetof(VexGuestAMD64State, guest_FS_CONST);
  VG_(get_shadow_regs_area)(tid, (UChar*)&r->self, 0, fs, sizeof(r->self));
  r->stack_pointer = VG_(get_SP)(tid);
  r->stack_top = VG_(thread_get_stack_max)(tid);
  r->stack_size = VG_(thread_get_stack_size)(tid);
  svd_log_commit();
}

void svd_thread_exit(ThreadId tid) {
  if (svd_log_record(SVD_WIRE_THREAD_EXIT, tid, sizeof(SvdWireRecord), 0)) svd_log_commit();
  if (!clear_tid[tid]) return;
  UInt zero = 0;
  svd_log_kernel_write(tid, clear_tid[tid], sizeof(zero), (const UChar*)&zero);
}

void svd_fork_child(ThreadId tid) {
  if (!svd_recording) return;
  if (svd_follow) {
    svd_log_reopen();
    svd_log_all_maps();
    svd_thread_first_instruction(tid);
  } else {
    svd_log_detach(True);
    VG_(clo_trace_children) = False;
  }
  svd_log_retranslate();
}
