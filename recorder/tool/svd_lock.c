/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The lock of Valgrind's scheduler, in place of its ticket lock: whoever has it runs. When it is
 * released it goes straight to one of those who wait:
 *
 *   fifo     the one that has waited longest
 *   random   any, all alike
 *   pct      the one with the highest priority
 *
 * Invariants: the queue is touched under `guard` only; everything else belongs to the owner of the
 * lock. Nobody waits for more than STARVED accesses of others.
 */
#include "svd_lock.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vkiscnums.h"
#include "svd_core.h"

enum { TIMED_OUT = 110 }; /* ETIMEDOUT */
enum {
  STARVED = 1000000, /* accesses of others that a thread waits at most */
  HAND_OVER = 20,    /* what a change of threads counts, so that the clock always advances */
  STANDINGS = 4096,  /* by the kernel's thread number; two that share one share their fate */
};

SvdSchedMode svd_sched_mode = SVD_FIFO;
ULong svd_clock;
Bool svd_lock_keeps;
static Long option_seed;

Bool svd_lock_option(const HChar* arg) {
  return VG_XACT_CLO(arg, "--sched=fifo", svd_sched_mode, SVD_FIFO) ||
         VG_XACT_CLO(arg, "--sched=random", svd_sched_mode, SVD_RANDOM) ||
         VG_XACT_CLO(arg, "--sched=pct", svd_sched_mode, SVD_PCT) ||
         VG_INT_CLO(arg, "--seed", option_seed);
}

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
ULong svd_random_below(ULong bound) {
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
    s->priority = 1 + svd_random_below(1u << 30);
  }
  return s;
}

static Bool has_starved(const Waiter* w) { return svd_clock - w->since > STARVED; }

/* The link to the one whose turn it is; somebody is in the queue. */
static Waiter** choose(void) {
  Waiter** best = &queue;
  if (svd_sched_mode == SVD_FIFO || has_starved(queue)) return best;
  UInt seen = 1;
  for (Waiter** at = &queue->next; *at; at = &(*at)->next) {
    Bool better = svd_sched_mode == SVD_RANDOM
                      ? svd_random_below(++seen) == 0
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
  Waiter here = {NULL, 0, VG_(gettid)(), svd_clock};
  if (svd_lock_keeps && owner == here.lwp) return;
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
  if (svd_lock_keeps) return;
  svd_clock += HAND_OVER;
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

/* ---- for the owner --------------------------------------------------------------------------- */

/* It queues before it lets go: nobody knows when it comes to run again and could ask. In place of
 * Valgrind's own function, which asks afterwards. */
void __wrap_vgPlain_vg_yield(void);
void __wrap_vgPlain_vg_yield(void) {
  ThreadId tid = VG_(get_running_tid)();
  Waiter self = {NULL, 0, owner, svd_clock};
  yielder = &self;
  /* A thread that dies of a signal waits for the others here, and is still inside its code. */
  Bool inside = VG_(in_generated_code);
  VG_(in_generated_code) = False;
  VG_(release_BigLock)(tid, THREAD_YIELDING, "svd");
  VG_(acquire_BigLock)(tid, "svd");
  VG_(in_generated_code) = inside;
}

void svd_lock_yield(void) { __wrap_vgPlain_vg_yield(); }

Bool svd_lock_is_wanted(void) { return __atomic_load_n(&queue, __ATOMIC_ACQUIRE) != NULL; }

Bool svd_lock_is_new(Bool* from_another) {
  static Int last_owner;
  Bool result = new_turn;
  *from_another = owner != last_owner;
  last_owner = owner;
  new_turn = False;
  return result;
}

void svd_lock_fall(void) { standing_of(owner)->priority = --lowest; }

Bool svd_lock_outranked(void) {
  enter_guard();
  const Waiter* first = *choose();
  Bool result =
      has_starved(queue) || standing_of(first->lwp)->priority > standing_of(owner)->priority;
  leave_guard();
  return result;
}

UInt svd_lock_arrivals(void) { return __atomic_load_n(&arrivals, __ATOMIC_SEQ_CST); }

Bool svd_lock_has_in_queue(Int lwp) {
  Bool found = False;
  enter_guard();
  for (const Waiter* w = queue; w && !found; w = w->next) found = w->lwp == lwp;
  leave_guard();
  return found;
}

void svd_lock_await(UInt wanted, UInt milliseconds) {
  struct vki_timespec timeout = {0, milliseconds * 1000000L};
  awaited = True;
  for (;;) {
    UInt now = __atomic_load_n(&arrivals, __ATOMIC_SEQ_CST);
    if ((Int)(now - wanted) >= 0) break;
    SysRes r = futex(&arrivals, VKI_FUTEX_WAIT, now, &timeout);
    if (sr_isError(r) && sr_Err(r) == TIMED_OUT) break;
  }
  awaited = False;
}
