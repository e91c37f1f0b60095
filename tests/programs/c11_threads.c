// SPDX-License-Identifier: Apache-2.0
//
// The threads of C11: thrd, mtx (plain, timed, recursive), cnd, call_once, tss, atomics.
#include <stdatomic.h>
#include <threads.h>
#include <time.h>

#include "expect.h"

enum { kThreads = 4, kRounds = 1000 };

static mtx_t plain, recursive;
static cnd_t all_here;
static once_flag once = ONCE_FLAG_INIT;
static tss_t slot;
static atomic_long total;
static int arrived, initialised, destroyed;
static long sum;

static void initialise(void) { ++initialised; }
static void destroy(void* unused) {
  (void)unused;
  mtx_lock(&plain);
  ++destroyed;
  mtx_unlock(&plain);
}

static int run(void* argument) {
  call_once(&once, initialise);
  tss_set(slot, argument);
  mtx_lock(&plain);
  if (++arrived == kThreads) cnd_broadcast(&all_here);
  while (arrived < kThreads) cnd_wait(&all_here, &plain);
  mtx_unlock(&plain);
  for (int i = 0; i < kRounds; ++i) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_sec += 60;
    EXPECT(mtx_timedlock(&recursive, &t) == thrd_success && mtx_lock(&recursive) == thrd_success);
    sum += i;
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    atomic_fetch_add(&total, i);
    if (i % 100 == 0) thrd_yield();
  }
  return 5;
}

int main(void) {
  EXPECT(mtx_init(&plain, mtx_plain) == thrd_success);
  EXPECT(mtx_init(&recursive, mtx_timed | mtx_recursive) == thrd_success);
  EXPECT(cnd_init(&all_here) == thrd_success && tss_create(&slot, destroy) == thrd_success);
  thrd_t threads[kThreads];
  int results = 0;
  for (int i = 0; i < kThreads; ++i) {
    EXPECT(thrd_create(&threads[i], run, &threads[i]) == thrd_success);
  }
  for (int i = 0; i < kThreads; ++i) {
    int result;
    EXPECT(thrd_join(threads[i], &result) == thrd_success);
    results += result;
  }
  EXPECT(mtx_trylock(&plain) == thrd_success);
  mtx_unlock(&plain);
  printf("sum %ld total %ld initialised %d destroyed %d results %d\n", sum, atomic_load(&total),
         initialised, destroyed, results);
  mtx_destroy(&plain);
  cnd_destroy(&all_here);
  return 0;
}
