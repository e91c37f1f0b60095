/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Who runs next. Valgrind runs one thread at a time, the one that has its scheduler's lock; this
 * file is that lock (it takes the place of Valgrind's ticket lock) and, under --sched=random and
 * --sched=pct, also says when a thread gives it up.
 *
 *   fifo     whoever has waited longest; turns end where Valgrind ends them
 *   random   a turn lasts a random number of accesses around `quantum`; then comes one of those who
 *            wait, all alike. Short turns among long ones: a bug often needs a thread to be left
 *            within a few accesses, and another to come far meanwhile.
 *   pct      threads have random priorities and the highest one runs. At change points, random
 *            numbers of accesses around `quantum` apart, the running thread falls below all
 *            others; after `depth` of them it only does so when it spins. (Burckhardt et al.,
 *            ASPLOS 2010)
 *
 * In the last two, every memory access of instrumented code but those inside an indivisible
 * instruction counts down, and at zero the thread can be left right before it: svd_sched_pause
 * waits inside the dirty call, in the middle of a superblock, while others run. Places where that
 * seldom shows anything are mostly passed over.
 *
 * Invariants: the queue and the standings are touched under `guard` only; everything else belongs
 * to the owner of the lock. No thread that can run waits for more than STARVED accesses of others
 * and one turn. A seed gives the same decisions, but not always the same run: when threads come
 * back from system calls is the kernel's.
 *
 * Unsound, as it cannot be seen from here: Valgrind may use the memory of old translations again
 * once a program has some million of them, even of one in which a thread is paused.
 */
#include "libvex_guest_amd64.h"
#include "pub_tool_libcassert.h"
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
#include "svd_tool.h"

enum { TIMED_OUT = 110 };        /* ETIMEDOUT */
enum { FUTEX_OPERATION = 0x7f }; /* without flags */
enum {
  TICK = 1000,       /* accesses after which pct looks again who waits */
  SPINNING = 100000, /* accesses in one go after which pct takes a thread for a spinner */
  STARVED = 1000000, /* accesses of others that a thread waits at most */
  FILE_ACCESS = 500, /* what reading or writing a file counts */
  HAND_OVER = 20,    /* what a change of threads counts, so that the clock always advances */
  DULL = 32,         /* of so many dull places to leave a thread, one is taken */
  WAKING_MS = 500,   /* how long a thread on its way back from the kernel is waited for */
  STANDINGS = 4096,  /* by the kernel's thread number; two that share one share their fate */
  MAX_RECORD = 4 + SVD_MAX_SLOTS * 17, /* bytes of an execution: addresses, values, flags */
};

static enum { FIFO, RANDOM, PCT } mode = FIFO;
static Long option_seed = 0, option_quantum = 1000, option_depth = 3;

Bool svd_sched_option(const HChar* arg) {
  return VG_XACT_CLO(arg, "--sched=fifo", mode, FIFO) ||
         VG_XACT_CLO(arg, "--sched=random", mode, RANDOM) ||
         VG_XACT_CLO(arg, "--sched=pct", mode, PCT) || VG_INT_CLO(arg, "--seed", option_seed) ||
         VG_BINT_CLO(arg, "--quantum", option_quantum, 1, 1 << 30) ||
         VG_BINT_CLO(arg, "--depth", option_depth, 0, 1 << 30);
}

Bool svd_sched_chaos(void) { return mode != FIFO; }

/* ---- the lock ------------------------------------------------------------------------------- */

typedef struct Waiter {
  struct Waiter* next;
  UInt go; /* futex; 1: it is your turn */
  Int lwp;
  ULong since; /* on the clock */
} Waiter;

typedef struct {
  Int lwp;
  Long priority;
} Standing;

static UInt guard;      /* futex; 0 free, 1 held, 2 held and wanted */
static Waiter* queue;   /* in the order of arrival */
static Waiter* yielder; /* the one that is about to release: it wants the lock back */
static Int owner;       /* the kernel's number of the thread; 0: none */
static UInt arrivals;   /* futex; counts all who have asked for the lock */
static Bool awaited;    /* somebody waits for an arrival */
static Standing standings[STANDINGS];
static Long lowest;   /* the priority of whoever fell last */
static ULong clock;   /* accesses so far, of all threads */
static Bool keeps;    /* the owner is in a system call and has not given up the lock */
static Bool new_turn; /* the owner has just got the lock */

static SysRes futex(UInt* word, UInt operation, UInt value, const struct vki_timespec* timeout) {
  return VG_(do_syscall)(__NR_futex, (UWord)word, operation | VKI_FUTEX_PRIVATE_FLAG, value,
                         (UWord)timeout, 0, 0, 0, 0);
}

static void enter_guard(void) {
  UInt state = 0;
  if (__atomic_compare_exchange_n(&guard, &state, 1, False, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return;
  }
  while (__atomic_exchange_n(&guard, 2, __ATOMIC_ACQUIRE) != 0) {
    futex(&guard, VKI_FUTEX_WAIT, 2, NULL);
  }
}

static void leave_guard(void) {
  if (__atomic_exchange_n(&guard, 0, __ATOMIC_RELEASE) == 2) {
    futex(&guard, VKI_FUTEX_WAKE, 1, NULL);
  }
}

/* 0 <= result < bound. xorshift64*, begun at splitmix64 of the seed. */
static ULong random_below(ULong bound) {
  static ULong state = 0;
  if (!state) {
    state = (ULong)option_seed + 0x9e3779b97f4a7c15ull;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebull;
    state = (state ^ (state >> 31)) | 1;
  }
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (((state * 0x2545f4914f6cdd1dull) >> 32) * bound) >> 32;
}

static Standing* standing_of(Int lwp) {
  Standing* s = &standings[lwp % STANDINGS];
  if (s->lwp != lwp) {
    s->lwp = lwp;
    s->priority = 1 + random_below(1u << 30);
  }
  return s;
}

static Bool has_starved(const Waiter* w) { return clock - w->since > STARVED; }

/* The link to the one whose turn it is; somebody is in the queue. */
static Waiter** choose(void) {
  Waiter** best = &queue;
  if (mode == FIFO || has_starved(queue)) return best;
  UInt seen = 1;
  for (Waiter** at = &queue->next; *at; at = &(*at)->next) {
    Bool better = mode == RANDOM
                      ? random_below(++seen) == 0
                      : standing_of((*at)->lwp)->priority > standing_of((*best)->lwp)->priority;
    if (better) best = at;
  }
  return best;
}

struct sched_lock; /* there is only one, so none is made */

static const HChar* lock_name(void) { return "svd"; }

/* Also in a forked child, which has none of the other threads. */
static struct sched_lock* lock_create(void) {
  guard = 0;
  queue = NULL;
  owner = 0;
  return NULL;
}

static void lock_destroy(struct sched_lock* unused) {}

static int lock_owner(struct sched_lock* unused) { return owner; }

static void append(Waiter* w) {
  Waiter** end = &queue;
  while (*end) end = &(*end)->next;
  *end = w;
}

/* How the caller waits: here, or where it queued when it yielded. */
static Waiter* ask(Waiter* here) {
  if (owner == 0) owner = here->lwp;
  here->go = owner == here->lwp;
  if (here->go) return here;
  for (Waiter* w = queue; w; w = w->next) {
    if (w->lwp == here->lwp) return w;
  }
  append(here);
  return here;
}

static void lock_acquire(struct sched_lock* unused) {
  Waiter here = {NULL, 0, VG_(gettid)(), clock};
  if (keeps && owner == here.lwp) return;
  enter_guard();
  Waiter* self = ask(&here);
  __atomic_add_fetch(&arrivals, 1, __ATOMIC_SEQ_CST);
  leave_guard();
  if (__atomic_load_n(&awaited, __ATOMIC_SEQ_CST)) futex(&arrivals, VKI_FUTEX_WAKE, 1, NULL);
  while (!__atomic_load_n(&self->go, __ATOMIC_ACQUIRE)) futex(&self->go, VKI_FUTEX_WAIT, 0, NULL);
  new_turn = True;
}

/* The lock goes straight to the next owner. If it were only set free, this thread would often have
 * it back before another one has woken up. */
static void lock_release(struct sched_lock* unused) {
  if (keeps) return;
  clock += HAND_OVER;
  UInt* go = NULL;
  enter_guard();
  if (!yielder) owner = 0;
  if (queue) {
    Waiter** link = choose();
    Waiter* next = *link;
    *link = next->next;
    owner = next->lwp;
    go = &next->go;
    *go = 1; /* now `next` can be gone at any time; to wake nobody does no harm */
    if (yielder) append(yielder);
  }
  yielder = NULL;
  leave_guard();
  if (go) futex(go, VKI_FUTEX_WAKE, 1, NULL);
}

/* Lets others run. It queues before it lets go: nobody knows when it comes to run again and could
 * ask. In place of Valgrind's own function, which asks afterwards. */
void __wrap_vgPlain_vg_yield(void);
void __wrap_vgPlain_vg_yield(void) {
  ThreadId tid = VG_(get_running_tid)();
  Waiter self = {NULL, 0, owner, clock};
  yielder = &self;
  /* A thread that dies of a signal waits for the others here, and is still inside its code. */
  Bool inside = VG_(in_generated_code);
  VG_(in_generated_code) = False;
  VG_(release_BigLock)(tid, THREAD_YIELDING, "svd");
  VG_(acquire_BigLock)(tid, "svd");
  VG_(in_generated_code) = inside;
}

/* What Valgrind expects of a lock of its scheduler. */
struct sched_lock_ops {
  const HChar* (*name)(void);
  struct sched_lock* (*create)(void);
  void (*destroy)(struct sched_lock*);
  int (*owner)(struct sched_lock*);
  void (*acquire)(struct sched_lock*);
  void (*release)(struct sched_lock*);
};
extern const struct sched_lock_ops ML_(linux_ticket_lock_ops);
const struct sched_lock_ops ML_(linux_ticket_lock_ops) = {lock_name,  lock_create,  lock_destroy,
                                                          lock_owner, lock_acquire, lock_release};

/* ---- turns ----------------------------------------------------------------------------------- */

static Long left;      /* accesses until the running thread is asked again */
static Long given;     /* what its count was set to */
static Long to_change; /* pct: accesses until the next change point */
static Long changes;   /* pct: how many there have been */
static Long in_one_go; /* accesses of the owner since it got the lock from another thread */
static Int last_owner;
static Bool due;   /* the running thread can be left anywhere */
static Bool spins; /* the running thread, by its own account */

/* From 1 to about the quantum, short and long alike: all octaves have the same chance. */
static Long draw(void) {
  UInt octaves = 1;
  while ((option_quantum >> octaves) != 0) octaves++;
  ULong least = 1ull << random_below(octaves);
  return least + random_below(least);
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
  clock += used;
  in_one_go += used;
  to_change -= used;
}

static void set_left(void) {
  if (to_change <= 0) to_change = draw();
  left = mode == RANDOM ? draw() : to_change < TICK ? to_change : TICK;
}

static void begin_turn(void) {
  if (owner != last_owner) in_one_go = 0;
  last_owner = owner;
  new_turn = False;
  set_left();
}

void svd_sched_enter(ThreadId tid) {
  if (mode == FIFO) return;
  keeps = False;
  if (new_turn) begin_turn();
  if (spins || due) left = 1;
  set_count(tid);
}

void svd_sched_leave(ThreadId tid) {
  if (mode != FIFO) settle(tid);
}

static void fall(void) { standing_of(owner)->priority = --lowest; }

/* Under the guard, with others in the queue. */
static Bool outranked(void) {
  if (spins || in_one_go > SPINNING) fall();
  if (to_change <= 0 && changes < option_depth) {
    changes++;
    fall();
  }
  if (has_starved(queue)) return True;
  return standing_of((*choose())->lwp)->priority > standing_of(owner)->priority;
}

/* The count is at zero: whether another thread shall run now. */
static Bool turn_ends(void) {
  Bool ends = False;
  enter_guard();
  if (queue) ends = mode == RANDOM || outranked();
  leave_guard();
  spins = due = False;
  set_left();
  return ends;
}

/* ---- handing over in the middle of a superblock ------------------------------------------------
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
  UInt size = svd_log_pause(tid, slot, record, MAX_RECORD);
  for (UInt i = 0; i < COUNTERS; i++) {
    saved[i] = *counters[i];
    *counters[i] = 0;
  }
  __wrap_vgPlain_vg_yield();
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
  if (queue && !spins && !due && is_dull(tid, address, in_runtime) && random_below(DULL) != 0) {
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

/* ---- system calls, and threads that they wake
 * -------------------------------------------------------------------------
 */

/* By thread: `arrivals` before its system call. */
static UInt* before;

static Bool wakes(UInt number, const UWord* args) {
  UInt operation = args[1] & FUTEX_OPERATION;
  return number == __NR_futex &&
         (operation == VKI_FUTEX_WAKE || operation == VKI_FUTEX_WAKE_BITSET);
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
  if (mode == FIFO) return;
  if (!before) before = VG_(calloc)("svd.before", VG_N_THREADS, sizeof(UInt));
  before[tid] = __atomic_load_n(&arrivals, __ATOMIC_SEQ_CST);
  keeps = returns_at_once(number, args);
}

/* Until there have been `wanted` arrivals, or for WAKING_MS. */
static void await(UInt wanted) {
  struct vki_timespec timeout = {0, WAKING_MS * 1000000};
  awaited = True;
  for (;;) {
    UInt now = __atomic_load_n(&arrivals, __ATOMIC_SEQ_CST);
    if ((Int)(now - wanted) >= 0) break;
    SysRes r = futex(&arrivals, VKI_FUTEX_WAIT, now, &timeout);
    if (sr_isError(r) && sr_Err(r) == TIMED_OUT) break;
  }
  awaited = False;
}

/* Whoever was woken is on its way; without this it would often come when the caller has gone on for
 * long, or is done. Futexes that processes share may have woken somebody elsewhere. */
void svd_sched_syscall_exit(ThreadId tid, UInt number, const UWord* args, SysRes result) {
  if (mode == FIFO) return;
  if (keeps && !wakes(number, args)) {
    to_change -= FILE_ACCESS;
    left -= FILE_ACCESS;
    if (left <= 0) due = True;
  }
  keeps = False;
  if (number == __NR_sched_yield) spins = True;
  if (sr_isError(result)) return;
  if (number == __NR_clone && (args[0] & VKI_CLONE_THREAD)) await(before[tid] + 1);
  if (wakes(number, args) && (args[1] & VKI_FUTEX_PRIVATE_FLAG)) {
    await(before[tid] + sr_Res(result));
  }
}
