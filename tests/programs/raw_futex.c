// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation that no library knows of: a mutex and a hand-shake made of futex system calls and
// atomic instructions, as in Drepper's "Futexes are tricky".
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"

enum { kThreads = 3, kRounds = 3000 };

static int lock, go;
static long sum;

static void futex_wait(int* word, int value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void futex_wake(int* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

// 0: free; 1: taken; 2: taken, and somebody waits.
static void take(void) {
  int seen = 0;
  if (__atomic_compare_exchange_n(&lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE) != 0) futex_wait(&lock, 2);
}

static void give(void) {
  if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2) futex_wake(&lock, 1);
}

static void* run(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) futex_wait(&go, 0);
  for (int i = 0; i < kRounds; ++i) {
    take();
    sum += i;
    if (i % 64 == 0) sched_yield();  // so that others find it taken
    give();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_create(&threads[i], NULL, run, NULL));
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  futex_wake(&go, kThreads);
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_join(threads[i], NULL));
  printf("sum %ld\n", sum);
  return 0;
}
