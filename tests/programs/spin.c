// SPDX-License-Identifier: Apache-2.0
//
// spin KIND [ROUNDS]: two threads pass a token back and forth, ROUNDS times (200), and wait for it
// in a loop, while a third one works. What is in the loop:
//   bare    nothing
//   pause   the instruction pause
//   yield   sched_yield
//   sleep   usleep
//   lock    a mutex around a look at the token
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char* kind;
static long rounds = 200;
static volatile long token, done, work;

static long look(void) {
  if (strcmp(kind, "lock") != 0) return token;
  pthread_mutex_lock(&mutex);
  long seen = token;
  pthread_mutex_unlock(&mutex);
  return seen;
}

static void wait_for(long value) {
  while (look() != value) {
    if (strcmp(kind, "pause") == 0) __builtin_ia32_pause();
    if (strcmp(kind, "yield") == 0) sched_yield();
    if (strcmp(kind, "sleep") == 0) usleep(100);
  }
}

static void* play(void* side) {
  for (long i = 0; i < rounds; i++) {
    wait_for(2 * i + (long)side);
    token++;
  }
  return NULL;
}

static void* toil(void* unused) {
  while (!done) work++;
  return unused;
}

int main(int argc, char** argv) {
  EXPECT(argc > 1);
  kind = argv[1];
  if (argc > 2) rounds = atol(argv[2]);
  pthread_t worker, players[2];
  EXPECT(!pthread_create(&worker, NULL, toil, NULL));
  for (long i = 0; i < 2; i++) EXPECT(!pthread_create(&players[i], NULL, play, (void*)i));
  for (long i = 0; i < 2; i++) EXPECT(!pthread_join(players[i], NULL));
  done = 1;
  EXPECT(!pthread_join(worker, NULL));
  EXPECT(token == 2 * rounds);
  return 0;
}
