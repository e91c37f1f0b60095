// SPDX-License-Identifier: Apache-2.0
//
// What the benchmark programs share: a team of four threads that run one function, a barrier
// between their phases, and the program's size from its argument.
#ifndef SVD_TESTS_BENCH_PROGRAMS_TEAM_H
#define SVD_TESTS_BENCH_PROGRAMS_TEAM_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTeam = 4 };

static pthread_barrier_t team_barrier;

static inline void team_meet(void) { pthread_barrier_wait(&team_barrier); }

// Runs work(0) … work(3), the first one in the calling thread.
static inline void team_run(void* (*work)(void*)) {
  pthread_t threads[kTeam];
  pthread_barrier_init(&team_barrier, NULL, kTeam);
  for (long i = 1; i < kTeam; ++i) {
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) exit(1);
  }
  work(NULL);
  for (int i = 1; i < kTeam; ++i) pthread_join(threads[i], NULL);
}

static inline size_t size_argument(int argc, char** argv) {
  long size = argc == 2 ? atol(argv[1]) : 0;
  if (size <= 0) {
    fprintf(stderr, "usage: %s SIZE\n", argv[0]);
    exit(2);
  }
  return (size_t)size;
}

static inline uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

#endif  // SVD_TESTS_BENCH_PROGRAMS_TEAM_H
