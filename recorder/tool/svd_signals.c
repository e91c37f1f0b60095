/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals, the fatal one, and the end of the process.
 *
 * Valgrind's own callback is told of a signal only where a handler is installed, so two functions
 * of the core are wrapped at link time: the report to the debugger, which every signal passes
 * before it is acted upon, and the one that ends all other threads, which says why.
 *
 * A fault reaches us from inside generated code: the execution record under way is whole in length
 * but not in content, and SVD_WIRE_CUT behind it says where it ended. That relies on the program
 * counter being exact where a fault can happen: VEX keeps it so for memory accesses, and
 * svd_instrument.c for divisions.
 */
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "svd_core.h"
#include "svd_tool.h"

/* The reason of VG_(nuke_all_threads_except) that means a fatal signal. */
enum { REASON_FATAL_SIGNAL = 3 };

static Int last_signal; /* the last one that was reported */
static Int fatal_signal;
static Int exit_status; /* what exit was called with; svd_end is not told */

void svd_kills(Int number) {
  if (number == VKI_SIGKILL) last_signal = number;
}

enum { SIGNALS = 65 };
static Addr handlers[SIGNALS]; /* by number, as last set */

void svd_sets_handler(UWord number, Addr action) {
  if (number < SIGNALS) handlers[number] = *(const Addr*)action;
}

void svd_exits(Int status) { exit_status = status & 0xff; }

Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t* info, ThreadId tid);
void __real_vgPlain_nuke_all_threads_except(ThreadId me, UInt reason);

/* Sent to move the window, and of no use to a program that has no handler for it: it would die. */
static Bool is_for_us_alone(Int number) {
  Bool user_defined = number == VKI_SIGUSR1 || number == VKI_SIGUSR2;
  return user_defined && svd_window_is_signal(number) && handlers[number] == (Addr)VKI_SIG_DFL;
}

/* False: the program does not get the signal. */
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t* info, ThreadId tid) {
  last_signal = info->si_signo;
  Addr pc = VG_(get_IP)(tid);
  if (svd_log_in_code()) {
    SvdWireCut* cut = svd_log_record(SVD_WIRE_CUT, tid, sizeof(*cut), 0);
    if (cut) {
      cut->pc = pc;
      svd_log_commit();
    }
  }
  svd_window_signal(info->si_signo);
  if (is_for_us_alone(info->si_signo)) return False;
  SvdWireSignal* r = svd_log_record(SVD_WIRE_SIGNAL, tid, sizeof(*r), 0);
  if (r) {
    r->number = info->si_signo;
    r->code = info->si_code;
    r->address = (Addr)info->_sifields._sigfault._addr;
    r->pc = pc;
    svd_log_commit();
  }
  return __real_vgPlain_gdbserver_report_signal(info, tid);
}

void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt reason) {
  if (reason == REASON_FATAL_SIGNAL) {
    fatal_signal = last_signal;
    if (svd_log_record(SVD_WIRE_FATAL, me, sizeof(SvdWireRecord), 0)) svd_log_commit();
  }
  __real_vgPlain_nuke_all_threads_except(me, reason);
}

/* How Valgrind dies of the program's signal. Its own function sends the signal to the process, so
 * that another thread, which is about to end, can be the one to get it, and too late. */
void __wrap_vgPlain_kill_self(Int number);
void __wrap_vgPlain_kill_self(Int number) {
  vki_sigaction_toK_t action;
  VG_(memset)(&action, 0, sizeof(action));
  action.ksa_handler = VKI_SIG_DFL;
  VG_(sigaction)(number, &action, NULL);
  vki_sigset_t set;
  VG_(sigemptyset)(&set);
  VG_(sigaddset)(&set, number);
  VG_(sigprocmask)(VKI_SIG_UNBLOCK, &set, NULL);
  VG_(tkill)(VG_(gettid)(), number);
}

static void log_handler(UInt type, ThreadId tid, Int number, Bool alternate_stack) {
  SvdWireHandler* r = svd_log_record(type, tid, sizeof(*r), 0);
  if (!r) return;
  r->number = number;
  r->on_alternate_stack = alternate_stack;
  if (number > 0 && number < SIGNALS) r->handler = handlers[number];
  svd_log_commit();
}

/* Where the frame that is about to be built ends. */
static Addr frame_top;

void svd_handler_begin(ThreadId tid, Int number, Bool alternate_stack) {
  Addr sp = VG_(get_SP)(tid), low = VG_(thread_get_altstack_min)(tid);
  SizeT size = VG_(thread_get_altstack_size)(tid);
  frame_top = alternate_stack && sp - low >= size ? low + size : sp - VG_STACK_REDZONE_SZB;
  log_handler(SVD_WIRE_HANDLER, tid, number, alternate_stack);
  svd_window_poll();
}

/* Above what a kernel would write, Valgrind's frame keeps registers and shadow registers. */
void svd_signal_frame(ThreadId tid, Addr end_of_kernel_part) {
  if (end_of_kernel_part >= frame_top) return;
  svd_log_kernel_write(tid, end_of_kernel_part, frame_top - end_of_kernel_part, NULL);
}

void svd_handler_end(ThreadId tid, Int number) {
  log_handler(SVD_WIRE_HANDLER_END, tid, number, False);
}

void svd_end(Int unused) {
  SvdWireEnd* r = svd_log_record(SVD_WIRE_END, 0, sizeof(*r), 0);
  if (!r) return;
  r->status = exit_status;
  r->signal = fatal_signal;
  svd_log_commit();
  svd_log_publish();
}
