/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the tool know of each other. Everything runs under Valgrind's big lock, so
 * nothing here is synchronised; only the ring is shared, with another process.
 */
#ifndef SVD_TOOL_H
#define SVD_TOOL_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "svd/wire/ring.h"

/* Options (svd_main.c). */
extern const HChar* svd_session_dir;
extern Bool svd_values;
extern Bool svd_follow;

/* ---- svd_log.c: the ring ------------------------------------------------------------------- */

/* Where the generated code finds the log, in the first shadow of the running thread's state: the
 * pointer, its limit, and, where threads can be left in the middle of a superblock, the start of
 * the record and the accesses until it asks svd_sched_pause. */
enum {
  SVD_SHADOW_POINTER = 0,
  SVD_SHADOW_LIMIT = 8,
  SVD_SHADOW_RECORD = 16,
  SVD_SHADOW_COUNT = 24
};

/* False: this process is not recorded (any more); instrument() then adds nothing. */
extern Bool svd_recording;

void svd_log_open(void);
/* The process goes on unrecorded. `forked`: the ring is the parent's and must not be touched. */
void svd_log_detach(Bool forked);
/* In a forked child: a ring of its own in place of the parent's. */
void svd_log_reopen(void);
/* Drops all translations. Only where svd_core.h says. */
void svd_log_drop_translations(void);
/* The same, if some no longer fit. */
void svd_log_retranslate(void);
void svd_log_publish(void);
/* A record of `size` bytes (a multiple of 8, at most the slack) at the current position, its header
 * filled; NULL when records of this type are not made now. Complete once svd_log_commit is called.
 */
void* svd_log_record(UInt type, ThreadId tid, UInt size, UInt text_size);
void svd_log_commit(void);
/* The generated code's pointer goes to and comes from the thread that runs. */
void svd_log_enter(ThreadId tid, ULong blocks);
void svd_log_leave(ThreadId tid, ULong blocks);
/* Whether a thread is inside generated code (and has been interrupted by a fault there). */
Bool svd_log_in_code(void);
/* Called by generated code that found no room. */
void svd_log_refill(void);
/* Leaves generated code right before the access `slot`: the record so far goes to `kept`. Its size.
 */
UInt svd_log_pause(ThreadId tid, UInt slot, UChar* kept, UInt room);
/* Goes on there, in a new record that begins like the old one. */
void svd_log_resume(ThreadId tid, const UChar* kept, UInt size);

/* The addresses that the program can have. */
#define SVD_CLIENT_START 0x1000ull
#define SVD_CLIENT_SIZE ((1ull << 47) - SVD_CLIENT_START)

static inline UInt svd_padded(UInt size) { return (size + 7) & ~7u; }

/* ---- svd_sched.c: who runs when ------------------------------------------------------------- */

Bool svd_sched_option(const HChar* arg);
/* Whether threads are left at any access, so that code must count its accesses down. */
Bool svd_sched_chaos(void);
void svd_sched_enter(ThreadId tid);
void svd_sched_leave(ThreadId tid);
void svd_sched_syscall(ThreadId tid, UInt number, const UWord* args);
void svd_sched_syscall_exit(ThreadId tid, UInt number, const UWord* args, SysRes result);
/* Called by generated code: the count is at zero, and the access `slot` comes next, to `address`,
 * in code of the C library or not. */
void svd_sched_pause(UWord slot, Addr address, UWord in_runtime);
/* The same: it has executed a pause instruction. */
void svd_sched_spins(void);

/* ---- svd_window.c: what part of the run is recorded ------------------------------------------ */

/* Whether blocks are recorded, if anything is. */
extern Bool svd_in_window;

/* --start-at and --stop-at, as svd-record gives them: "f0,NAME", "t30000,+30s", "s10,SIGUSR1".
 * False: not of that form. */
Bool svd_window_option(const HChar* option, const HChar* text);
void svd_window_start(void);
/* For a ring that begins: where we are. */
void svd_window_tell(void);
/* Where no thread is in generated code, or about to enter it: whether an edge has come. */
void svd_window_poll(void);
/* Signal `number` is being delivered. */
void svd_window_signal(Int number);
/* Whether it was named as an edge. */
Bool svd_window_is_signal(Int number);
/* The block, with a question in front where the next edge is the function that it enters. */
IRSB* svd_window_watch(IRSB* in);

/* ---- svd_slots.c: what a superblock accesses, and where that is in its record --------------- */

enum { SVD_MAX_INSTRUCTIONS = 256, SVD_MAX_SLOTS = 1024, SVD_MAX_EXITS = 255 };

typedef struct {
  SvdWireSlot wire;
  Int statement;   /* index of the access in the superblock */
  IRExpr* address; /* atom */
  IRExpr* value;   /* atom; NULL: no value */
  IRExpr* guard;   /* atom; NULL: unconditional, or a compare-and-swap */
  IRCAS* cas;      /* the write of a compare-and-swap: happens if it succeeds */
} SvdSlot;

typedef struct {
  Int body; /* first statement after the preamble */
  UInt instructions, slots, exits;
  UInt code_size;
  SvdWireInstruction instruction[SVD_MAX_INSTRUCTIONS];
  SvdSlot slot[SVD_MAX_SLOTS];
  SvdWireExit exit[SVD_MAX_EXITS];
} SvdPlan;

/* False when there is nothing to record in `sb`. */
Bool svd_plan(SvdPlan* plan, IRSB* sb);
void svd_log_block(const SvdPlan* plan, UInt id);
Bool svd_is_mailbox(const IRExpr* address);

/* ---- svd_probe.c: calls that the preload library does not see -------------------------------- */

IRSB* svd_probe(IRSB* in);

/* ---- svd_instrument.c ---------------------------------------------------------------------- */

IRSB* svd_instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout,
                     const VexGuestExtents* vge, const VexArchInfo* archinfo_host, IRType gWordTy,
                     IRType hWordTy);

/* ---- callbacks, all registered in svd_main.c ----------------------------------------------- */

/* svd_threads.c */
void svd_thread_create(ThreadId tid, ThreadId child);
void svd_thread_first_instruction(ThreadId tid);
void svd_thread_exit(ThreadId tid);
void svd_fork_child(ThreadId tid);
/* What all threads that live are called now, if anybody has named them. */
void svd_log_thread_names(void);
/* The address that the kernel clears when `tid` is gone; or 0. What the next clone makes: that, and
 * its thread pointer, or 0. */
void svd_set_clear_tid(ThreadId tid, Addr address);
void svd_clones(Addr clears, Addr self);

/* svd_signals.c */
void svd_handler_begin(ThreadId tid, Int number, Bool alternate_stack);
void svd_handler_end(ThreadId tid, Int number);
void svd_signal_frame(ThreadId tid, Addr end_of_kernel_part);
void svd_exits(Int status);
/* Signal `number` is being sent. One that kills its own process with SIGKILL is not reported. */
void svd_kills(Int number);
/* A readable struct sigaction was given for signal `number`. */
void svd_sets_handler(UWord number, Addr action);
void svd_end(Int unused);

/* svd_kernel.c */
void svd_syscall(ThreadId tid, UInt number, UWord* args, UInt n_args);
void svd_syscall_exit(ThreadId tid, UInt number, UWord* args, UInt n_args, SysRes result);
void svd_kernel_read(CorePart part, ThreadId tid, const HChar* what, Addr address, SizeT size);
void svd_kernel_read_string(CorePart part, ThreadId tid, const HChar* what, Addr address);
/* Whether the client has just this string at `address`. */
Bool svd_client_string_is(Addr address, const HChar* text);
/* `bytes`: what was written, NULL if that is not known. At most 32 KiB. */
void svd_log_kernel_write(ThreadId tid, Addr address, SizeT size, const UChar* bytes);
void svd_kernel_write(CorePart part, ThreadId tid, Addr address, SizeT size);

/* svd_transfer.c: what goes through files, pipes and sockets of this process */
void svd_transfer_begins(ThreadId tid, UInt number, const UWord* args);
/* After what the kernel wrote, before the result. */
void svd_transfer_ends(ThreadId tid, UInt number, const UWord* args, SysRes result);
/* In the child: its other threads are not there. */
void svd_transfer_forked(void);

/* svd_maps.c */
void svd_map_startup(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle);
void svd_map(Addr address, SizeT size, Bool r, Bool w, Bool x, ULong handle);
void svd_unmap(Addr address, SizeT size);
void svd_protect(Addr address, SizeT size, Bool r, Bool w, Bool x);
void svd_remap(Addr from, Addr to, SizeT size);
void svd_break_grow(Addr address, SizeT size, ThreadId tid);
void svd_break_shrink(Addr address, SizeT size);
/* All that is mapped, for a ring that begins in mid life. */
void svd_log_all_maps(void);

#endif /* SVD_TOOL_H */
