/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Chaos: when the thread that runs is to give up the scheduler's lock (svd_lock.c).
 *
 *   random   at the end of a turn of a random number of accesses
 *   pct      when one of higher priority waits. At change points, random numbers of accesses
 *            apart, the running thread falls below all others; after `depth` of them it only does
 *            so when it spins. (Burckhardt et al., ASPLOS 2010)
 *
 * These numbers are short and long alike, from 1 to about `quantum`: most bugs need one thread to
 * be left within a few accesses, and another to come far meanwhile.
 *
 * Every memory access of instrumented code but those inside an indivisible instruction counts down,
 * and at zero the thread can be left right before it: svd_sched_pause waits inside the dirty call,
 * in the middle of a superblock, while others run. Places where that seldom shows anything are
 * mostly passed over.
 *
 * A seed gives the same decisions, but not always the same run: when threads come back from system
 * calls that wait is the kernel's.
 *
 * Unsound, as it cannot be seen from here: Valgrind may use the memory of old translations again
 * once a program has some million of them, even of one in which a thread is paused.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vkiscnums.h"
#include "svd_core.h"
#include "svd_lock.h"

enum { FUTEX_OPERATION = 0x7f }; /* without flags */
enum {
  WAKING_MS = 500, /* how long a thread on its way back from the kernel is waited for */
  LATE_MS = 20,    /* and one that was on its way into the kernel, and may wait there */
};
enum {
  TICK = 1000,       /* accesses after which pct looks again who waits */
  SPINNING = 100000, /* accesses in one go after which pct takes a thread for a spinner */
  FILE_ACCESS = 500, /* what reading or writing a file counts */
  DULL = 32,         /* of so many dull places to leave a thread, one is taken */
  PREPAID = 50000,   /* hand-overs that every run can have: a tenth of a second, about */
  PRICE = 256,       /* accesses that pay for each further one: they take about as long */
  LULL = 100000,     /* accesses that a thread goes on for when all is spent, at most */
  MAX_RECORD = 4 + SVD_MAX_SLOTS * 17, /* bytes of an execution: addresses, values, flags */
};

static Long option_quantum = 1000, option_depth = 3;

Bool svd_sched_option(const HChar* arg) {
  return svd_lock_option(arg) || VG_BINT_CLO(arg, "--quantum", option_quantum, 1, 1 << 30) ||
         VG_BINT_CLO(arg, "--depth", option_depth, 0, 1 << 30);
}

Bool svd_sched_chaos(void) { return svd_sched_mode != SVD_FIFO; }

/* ---- turns ------------------------------------------------------------------------------------
 */

static Long left;      /* accesses until the running thread is asked again */
static Long given;     /* what its count was set to */
static Long to_change; /* pct: accesses until the next change point */
static Long changes;   /* pct: how many there have been */
static Long in_one_go; /* accesses of the owner since it got the lock from another thread */
static ULong hand_overs;
static Bool due;   /* the running thread can be left anywhere */
static Bool spins; /* the running thread, by its own account */

/* From 1 to about the quantum, short and long alike: all octaves have the same chance. */
static Long draw(void) {
  UInt octaves = 1;
  while ((option_quantum >> octaves) != 0) octaves++;
  ULong least = 1ull << svd_random_below(octaves);
  return least + svd_random_below(least);
}

static void set_count(ThreadId tid) {
  given = left;
  VG_(set_shadow_regs_area)(tid, 1, SVD_SHADOW_COUNT, sizeof(given), (UChar*)&given);
}

/* Books what the thread has used of its count. */
static void settle(ThreadId tid) {
  VG_(get_shadow_regs_area)(tid, (UChar*)&left, 1, SVD_SHADOW_COUNT, sizeof(left));
  Long used = given - left;
  given = left;
  svd_clock += used;
  in_one_go += used;
  to_change -= used;
}

/* Until the next hand-over. A hand-over costs two system calls and a change of context, so those of
 * a long run are rationed: storms of them, and lulls that pay for the next one. */
static Long stretch(void) {
  Bool spent = hand_overs > PREPAID + svd_clock / PRICE;
  return spent ? 1 + (Long)svd_random_below(LULL) : draw();
}

static void set_left(void) {
  if (to_change <= 0) to_change = stretch();
  left = svd_sched_mode == SVD_RANDOM ? stretch() : to_change < TICK ? to_change : TICK;
}

static void begin_turn(void) {
  Bool from_another;
  if (!svd_lock_is_new(&from_another)) return;
  if (from_another) {
    in_one_go = 0;
    spins = due = False;
  }
  set_left();
}

void svd_sched_enter(ThreadId tid) {
  if (!svd_sched_chaos()) return;
  svd_lock_keeps = False;
  begin_turn();
  if (spins || due) left = 1;
  set_count(tid);
}

void svd_sched_leave(ThreadId tid) {
  if (svd_sched_chaos()) settle(tid);
}

/* pct, and others wait. */
static Bool is_outranked(void) {
  if (spins || in_one_go > SPINNING) svd_lock_fall();
  if (to_change <= 0 && changes < option_depth) {
    changes++;
    svd_lock_fall();
  }
  return svd_lock_outranked();
}

/* The count is at zero: whether another thread shall run now. */
static Bool turn_ends(void) {
  Bool ends = svd_lock_is_wanted() && (svd_sched_mode == SVD_RANDOM || is_outranked());
  spins = due = False;
  set_left();
  return ends;
}

/* ---- handing over in the middle of a superblock -----------------------------------------------
 */

/* Where each thread jumps to its scheduler. Valgrind knows that in a structure that its headers for
 * tools do not describe; so the call that fills it is wrapped. */
void* svd_sched_jump_buffer;
__asm__(
    ".text\n"
    ".globl __wrap_VG_MINIMAL_SETJMP\n"
    ".type __wrap_VG_MINIMAL_SETJMP,@function\n"
    "__wrap_VG_MINIMAL_SETJMP:\n"
    "  movq %rdi, svd_sched_jump_buffer(%rip)\n"
    "  jmp __real_VG_MINIMAL_SETJMP\n"
    ".previous\n");

/* At the first pause of a thread the last buffer that was filled is its own; it keeps it. */
static ULong* jump_buffer(ThreadId tid) {
  static void** buffers;
  if (!buffers) buffers = VG_(calloc)("svd.jump", VG_N_THREADS, sizeof(void*));
  if (!buffers[tid]) buffers[tid] = svd_sched_jump_buffer;
  return buffers[tid];
}

static void hand_over(ThreadId tid, UInt slot) {
  UInt* const counters[] = {&VG_(stats__n_xIndirs_32), &VG_(stats__n_xIndir_hits1_32),
                            &VG_(stats__n_xIndir_hits2_32), &VG_(stats__n_xIndir_hits3_32),
                            &VG_(stats__n_xIndir_misses_32)};
  enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };
  UInt saved[COUNTERS];
  UChar record[MAX_RECORD];
  ULong* scheduler = jump_buffer(tid);
  hand_overs++;
  UInt size = svd_log_pause(tid, slot, record, MAX_RECORD);
  for (UInt i = 0; i < COUNTERS; i++) {
    saved[i] = *counters[i];
    *counters[i] = 0;
  }
  svd_lock_yield();
  for (UInt i = 0; i < COUNTERS; i++) *counters[i] = saved[i];
  begin_turn();
  if (VG_(is_exiting)(tid)) {
    set_count(tid);
    VG_MINIMAL_LONGJMP(scheduler);
  }
  svd_log_resume(tid, record, size);
}

/* Where bugs are rarely seen: between accesses to the own stack, and inside the C library. */
static Bool is_dull(ThreadId tid, Addr address, Bool in_runtime) {
  return in_runtime ||
         (address >= VG_(get_SP)(tid) - VKI_PAGE_SIZE && address <= VG_(thread_get_stack_max)(tid));
}

void svd_sched_pause(UWord slot, Addr address, UWord in_runtime) {
  ThreadId tid = VG_(get_running_tid)();
  settle(tid);
  if (svd_lock_is_wanted() && !spins && !due && is_dull(tid, address, in_runtime) &&
      svd_random_below(DULL) != 0) {
    left = 1;
  } else if (turn_ends()) {
    hand_over(tid, slot);
  }
  set_count(tid);
}

void svd_sched_spins(void) {
  ThreadId tid = VG_(get_running_tid)();
  settle(tid);
  spins = True;
  left = 1;
  set_count(tid);
}

/* ---- system calls, and threads that they wake -------------------------------------------------
 */

/* By thread, of its system call. */
typedef struct {
  UInt before;    /* arrivals at the lock before it */
  UWord waits_at; /* the futex that it waits for; 0: none */
  Int lwp;
} Call;
static Call* calls;

static Bool wakes(UInt number, const UWord* args) {
  UInt operation = args[1] & FUTEX_OPERATION;
  return number == __NR_futex &&
         (operation == VKI_FUTEX_WAKE || operation == VKI_FUTEX_WAKE_BITSET);
}

static Bool waits(UInt number, const UWord* args) {
  UInt operation = args[1] & FUTEX_OPERATION;
  return number == __NR_futex &&
         (operation == VKI_FUTEX_WAIT || operation == VKI_FUTEX_WAIT_BITSET);
}

/* Whether a call is done at once, whatever other threads do. Valgrind takes some of them for ones
 * that may wait, and would give up the lock; then the kernel would decide who runs how long. */
static Bool returns_at_once(UInt number, const UWord* args) {
  struct vg_stat file;
  switch (number) {
    case __NR_read:
    case __NR_write:
    case __NR_pread64:
    case __NR_pwrite64:
    case __NR_readv:
    case __NR_writev:
    case __NR_fsync:
    case __NR_fdatasync:
      return VG_(fstat)(args[0], &file) == 0 && VKI_S_ISREG(file.mode);
    case __NR_sched_yield:
      return True;
    default:
      return wakes(number, args);
  }
}

void svd_sched_syscall(ThreadId tid, UInt number, const UWord* args) {
  if (!svd_sched_chaos()) return;
  if (!calls) calls = VG_(calloc)("svd.calls", VG_N_THREADS, sizeof(Call));
  calls[tid].before = svd_lock_arrivals();
  calls[tid].waits_at = waits(number, args) ? args[0] : 0;
  if (calls[tid].waits_at) calls[tid].lwp = VG_(gettid)();
  svd_lock_keeps = returns_at_once(number, args);
}

/* Threads that were to wait, but come back because the word has changed before they did. */
static void await_late(UWord word) {
  UInt arrivals = svd_lock_arrivals();
  UInt late = 0;
  for (UInt i = 0; i < VG_N_THREADS; i++)
    late += calls[i].waits_at == word && !svd_lock_has_in_queue(calls[i].lwp);
  if (late > 0) svd_lock_await(arrivals + late, LATE_MS);
}

/* Whoever was woken is on its way; without this it would often come when the caller has gone on for
 * long, or is done. Futexes that processes share may have woken somebody elsewhere. */
void svd_sched_syscall_exit(ThreadId tid, UInt number, const UWord* args, SysRes result) {
  if (!svd_sched_chaos()) return;
  calls[tid].waits_at = 0;
  if (svd_lock_keeps && !wakes(number, args)) {
    to_change -= FILE_ACCESS;
    left -= FILE_ACCESS;
    if (left <= 0) due = True;
  }
  svd_lock_keeps = False;
  if (number == __NR_sched_yield) spins = True;
  if (sr_isError(result)) return;
  if (number == __NR_clone && (args[0] & VKI_CLONE_THREAD)) {
    svd_lock_await(calls[tid].before + 1, WAKING_MS);
  }
  if (wakes(number, args) && (args[1] & VKI_FUTEX_PRIVATE_FLAG)) {
    svd_lock_await(calls[tid].before + sr_Res(result), WAKING_MS);
    if (sr_Res(result) < (UInt)args[2]) await_late(args[0]);
  }
}
