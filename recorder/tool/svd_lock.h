/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The scheduler's lock (svd_lock.c), for svd_sched.c. All of it is for the owner of the lock, that
 * is, for whoever runs.
 */
#ifndef SVD_LOCK_H
#define SVD_LOCK_H

#include "svd_tool.h"

typedef enum { SVD_FIFO, SVD_RANDOM, SVD_PCT } SvdSchedMode;
extern SvdSchedMode svd_sched_mode;
extern ULong svd_clock; /* accesses so far, of all threads */
/* The owner is in a system call and does not give up the lock, whatever Valgrind thinks. */
extern Bool svd_lock_keeps;

Bool svd_lock_option(const HChar* arg);
/* 0 <= result < bound, from the seed. */
ULong svd_random_below(ULong bound);
Bool svd_lock_is_wanted(void);
/* Whether the owner has got it since this was last asked, and whether another one had it then. */
Bool svd_lock_is_new(Bool* from_another);
/* Lets others run. */
void svd_lock_yield(void);
/* Gives the owner the lowest priority. */
void svd_lock_fall(void);
/* Whether one of those who wait, of whom there are some, should run in the owner's place. */
Bool svd_lock_outranked(void);
/* How often the lock has been asked for. */
UInt svd_lock_arrivals(void);
/* Waits until it has been asked for so often, but not for more than so long. */
void svd_lock_await(UInt wanted, UInt milliseconds);
/* Whether the thread of this number of the kernel's waits for it. */
Bool svd_lock_has_in_queue(Int lwp);

#endif /* SVD_LOCK_H */
