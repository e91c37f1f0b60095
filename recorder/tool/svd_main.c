/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The recorder: a Valgrind tool that logs what a program executes and accesses to a shared ring. It
 * decides nothing, keeps nothing and prints nothing; the collector at the other end does that.
 * Options come from svd-record, not from people. The one list of all callbacks is in this file.
 */
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "svd_core.h"
#include "svd_tool.h"

const HChar* svd_session_dir = NULL;
Bool svd_values = True;
Bool svd_follow = False;

static Bool take_option(const HChar* arg) {
  const HChar* edge;
  if (VG_STR_CLO(arg, "--start-at", edge)) return svd_window_option("--start-at", edge);
  if (VG_STR_CLO(arg, "--stop-at", edge)) return svd_window_option("--stop-at", edge);
  return VG_STR_CLO(arg, "--session", svd_session_dir) ||
         VG_BOOL_CLO(arg, "--values", svd_values) || VG_BOOL_CLO(arg, "--follow", svd_follow) ||
         svd_sched_option(arg);
}

static void print_usage(void) {
  static const HChar text[] =
      "    --session=DIR             directory of the running collector\n"
      "    --values=no|yes           record the values of accesses [yes]\n"
      "    --follow=no|yes           record forked children, too [no]\n"
      "    --sched=fifo|random|pct   who runs next [fifo]\n"
      "    --seed=N --quantum=N --depth=N   of random and pct\n"
      "    --start-at=KIND[N],WHAT   record from a function (f), N milliseconds after the start "
      "(t)\n"
      "                              or signal N (s) on\n"
      "    --stop-at=KIND[N],WHAT    up to there\n";
  VG_(printf)("%s", text);
}

static void print_debug_usage(void) { VG_(printf)("    (none)\n"); }

static void start(void) {
  if (!svd_session_dir) VG_(fmsg_bad_option)("--session", "this tool is started by svd-record\n");
  /* Chasing jumps lets VEX merge the two halves of an "a && b" and run the instructions of the
   * second one under a guard; then a block could not say which of its instructions ran. */
  VG_(clo_vex_control).guest_chase = False;
  svd_window_start();
  svd_log_open();
}

static void enter_code(ThreadId tid, ULong blocks) {
  svd_log_enter(tid, blocks);
  svd_sched_enter(tid);
}

static void leave_code(ThreadId tid, ULong blocks) {
  svd_sched_leave(tid);
  svd_log_leave(tid, blocks);
}

static void before_syscall(ThreadId tid, UInt number, UWord* args, UInt n_args) {
  svd_syscall(tid, number, args, n_args);
  svd_sched_syscall(tid, number, args);
}

static void after_syscall(ThreadId tid, UInt number, UWord* args, UInt n_args, SysRes result) {
  svd_syscall_exit(tid, number, args, n_args, result);
  svd_sched_syscall_exit(tid, number, args, result);
}

static void register_callbacks(void) {
  VG_(basic_tool_funcs)(start, svd_instrument, svd_end);
  VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);

  VG_(track_start_client_code)(enter_code);
  VG_(track_stop_client_code)(leave_code);

  VG_(track_pre_thread_ll_create)(svd_thread_create);
  VG_(track_pre_thread_first_insn)(svd_thread_first_instruction);
  VG_(track_pre_thread_ll_exit)(svd_thread_exit);
  VG_(atfork)(NULL, NULL, svd_fork_child);

  VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
  VG_(track_pre_mem_read)(svd_kernel_read);
  VG_(track_pre_mem_read_asciiz)(svd_kernel_read_string);
  VG_(track_post_mem_write)(svd_kernel_write);

  VG_(track_new_mem_startup)(svd_map_startup);
  VG_(track_new_mem_mmap)(svd_map);
  VG_(track_change_mem_mprotect)(svd_protect);
  VG_(track_copy_mem_remap)(svd_remap);
  VG_(track_die_mem_munmap)(svd_unmap);
  VG_(track_new_mem_brk)(svd_break_grow);
  VG_(track_die_mem_brk)(svd_break_shrink);

  VG_(track_pre_deliver_signal)(svd_handler_begin);
  VG_(track_post_deliver_signal)(svd_handler_end);
  /* Wrapped at link time: svd_signals.c (every signal, the fatal one), svd_cpuid.c,
   * svd_exec.c, svd_window.c (the turns of threads). */
}

static void describe(void) {
  VG_(details_name)("svd");
  VG_(details_version)(NULL);
  VG_(details_description)("recorder of svd");
  VG_(details_copyright_author)("GPL-2.0-or-later.");
  VG_(details_bug_reports_to)("the authors of svd");
  VG_(details_avg_translation_sizeB)(400);
}

static void before_options(void) {
  describe();
  register_callbacks();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
