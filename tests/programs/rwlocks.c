// SPDX-License-Identifier: Apache-2.0
//
// Reader-writer locks (plain, try, timed) and spin locks. Readers see two counters that writers
// keep equal.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "expect.h"

enum { kReaders = 3, kWriters = 2, kRounds = 1500 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long first, second, reads;

static struct timespec in_a_minute(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 60;
  return t;
}

static void count_read(void) {
  // A spinning thread can starve its lock's owner where threads take turns: give way in between.
  while (pthread_spin_trylock(&spin) == EBUSY) sched_yield();
  ++reads;
  pthread_spin_unlock(&spin);
}

static void* read_side(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds; ++i) {
    struct timespec t = in_a_minute();
    if (i % 3 == 1) {
      EXPECT(pthread_rwlock_timedrdlock(&lock, &t) == 0);
    } else if (i % 3 == 0 || pthread_rwlock_tryrdlock(&lock) != 0) {
      EXPECT(pthread_rwlock_rdlock(&lock) == 0);
    }
    EXPECT(first == second);
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
    count_read();
  }
  return NULL;
}

static void* write_side(void* unused) {
  (void)unused;
  for (int i = 0; i < kRounds; ++i) {
    struct timespec t = in_a_minute();
    if (i % 3 == 1) {
      EXPECT(pthread_rwlock_timedwrlock(&lock, &t) == 0);
    } else if (i % 3 == 0 || pthread_rwlock_trywrlock(&lock) != 0) {
      EXPECT(pthread_rwlock_wrlock(&lock) == 0);
    }
    ++first;
    ++second;
    EXPECT(pthread_rwlock_unlock(&lock) == 0);
  }
  return NULL;
}

int main(void) {
  EXPECT(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  pthread_t threads[kReaders + kWriters];
  for (int i = 0; i < kReaders + kWriters; ++i) {
    EXPECT(!pthread_create(&threads[i], NULL, i < kReaders ? read_side : write_side, NULL));
  }
  for (int i = 0; i < kReaders + kWriters; ++i) EXPECT(!pthread_join(threads[i], NULL));
  EXPECT(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
  EXPECT(pthread_spin_destroy(&spin) == 0);
  EXPECT(pthread_rwlock_destroy(&lock) == 0);
  printf("writes %ld %ld reads %ld\n", first, second, reads);
  return 0;
}
