/* SPDX-License-Identifier: Apache-2.0
 *
 * Works for long without a pattern, then crashes. On the way: memory that is freed and memory that
 * stays, a thread that lives throughout and is named, a lock that is held throughout. Says where
 * the memory that stays and the lock are. churn [ROUNDS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 16 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static unsigned table[WORDS];

static void* wait_forever(void* unused) {
  pthread_mutex_lock(&held);
  return unused;
}

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000000;
  char* stays = malloc(4321);
  printf("%p %p\n", (void*)stays, (void*)&held);
  fflush(stdout);
  pthread_mutex_lock(&held);
  pthread_t waiter;
  pthread_create(&waiter, NULL, wait_forever, NULL);
  pthread_setname_np(waiter, "waiter");

  unsigned x = 1;
  for (long i = 0; i < rounds; i++) {
    x = x * 1664525u + 1013904223u;
    table[(x >> 8) % WORDS] += x;
    if (i % 1000 == 0) free(malloc(x % 100));
  }
  stays[0] = (char)x;
  *(volatile int*)8 = 1;
  return 0;
}
