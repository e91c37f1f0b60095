// SPDX-License-Identifier: Apache-2.0
//
// Mutexes of every kind and every way to take one: lock, trylock, timedlock, clocklock; normal,
// recursive, error-checking, robust (its owner dies), priority-inheriting; contended by four
// threads. Prints the sum that only correct locking gives.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "expect.h"

enum { kThreads = 4, kRounds = 2000 };

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, checking, robust, inheriting;
static long sum;

static void init(pthread_mutex_t* mutex, int type, int robustness, int protocol) {
  pthread_mutexattr_t attributes;
  EXPECT(pthread_mutexattr_init(&attributes) == 0);
  EXPECT(pthread_mutexattr_settype(&attributes, type) == 0);
  EXPECT(pthread_mutexattr_setrobust(&attributes, robustness) == 0);
  EXPECT(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
  EXPECT(pthread_mutex_init(mutex, &attributes) == 0);
  EXPECT(pthread_mutexattr_destroy(&attributes) == 0);
}

static struct timespec soon(clockid_t clock, long milliseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += milliseconds * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static void take(int way) {
  struct timespec t = soon(way == 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, 60000);
  switch (way) {
    case 0:
      EXPECT(pthread_mutex_lock(&normal) == 0);
      break;
    case 1:
      while (pthread_mutex_trylock(&normal) == EBUSY) {
        struct timespec pause = {0, 10000};
        nanosleep(&pause, NULL);
      }
      break;
    case 2:
      EXPECT(pthread_mutex_timedlock(&normal, &t) == 0);
      break;
    default:
      EXPECT(pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &t) == 0);
  }
}

static void* contend(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds; ++i) {
    take(i % 4);
    sum += i;
    EXPECT(pthread_mutex_unlock(&normal) == 0);
    EXPECT(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    EXPECT(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    EXPECT(pthread_mutex_lock(&inheriting) == 0 && pthread_mutex_unlock(&inheriting) == 0);
  }
  return NULL;
}

static void* die_with_lock(void* unused) {
  (void)unused;
  EXPECT(pthread_mutex_lock(&robust) == 0);
  return NULL;
}

int main(void) {
  init(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  init(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  init(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  init(&inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);

  EXPECT(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
  EXPECT(pthread_mutex_unlock(&checking) == 0 && pthread_mutex_unlock(&checking) == EPERM);

  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_create(&threads[i], NULL, contend, NULL));
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_join(threads[i], NULL));

  pthread_mutex_lock(&normal);
  struct timespec t = soon(CLOCK_REALTIME, 20);
  EXPECT(pthread_mutex_timedlock(&normal, &t) == ETIMEDOUT);
  pthread_mutex_unlock(&normal);

  EXPECT(!pthread_create(&threads[0], NULL, die_with_lock, NULL) &&
         !pthread_join(threads[0], NULL));
  EXPECT(pthread_mutex_lock(&robust) == EOWNERDEAD);
  EXPECT(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
  EXPECT(pthread_mutex_destroy(&recursive) == 0 && pthread_mutex_destroy(&robust) == 0);
  printf("sum %ld\n", sum);
  return 0;
}
