// SPDX-License-Identifier: Apache-2.0
//
// lost_update MODE [ROUNDS]: two threads add 1 to a counter, ROUNDS times each (1000); how many of
// the additions were lost is written out.
//   split   the counter is read by one instruction and written by another
//   single  both by one instruction, which is not indivisible
//   locked  under a mutex
//   atomic  by one indivisible instruction

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char* mode;
static long rounds = 1000;

static void add_one(void) {
  if (strcmp(mode, "split") == 0) {
    long value = counter;
    counter = value + 1;
  } else if (strcmp(mode, "single") == 0) {
    __asm__ volatile("addq $1, %0" : "+m"(counter)::"cc");
  } else if (strcmp(mode, "locked") == 0) {
    pthread_mutex_lock(&mutex);
    counter = counter + 1;
    pthread_mutex_unlock(&mutex);
  } else {
    __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
  }
}

static pthread_barrier_t start;  // neither is through before the other has begun

static void* work(void* unused) {
  pthread_barrier_wait(&start);
  for (long i = 0; i < rounds; i++) add_one();
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  mode = argv[1];
  if (argc > 2) rounds = atol(argv[2]);
  pthread_t threads[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", 2 * rounds - counter);
  return 0;
}
