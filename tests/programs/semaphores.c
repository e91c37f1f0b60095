// SPDX-License-Identifier: Apache-2.0
//
// Semaphores (wait, trywait, timedwait, post; unnamed), barriers (one thread of each round is the
// serial one) and pthread_once.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "expect.h"

enum { kThreads = 4, kRounds = 300 };

static sem_t tokens;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised, serial, inside, steps[kThreads];

static void initialise(void) { ++initialised; }

static void enter(int way) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 60;
  if (way == 1) {
    EXPECT(sem_timedwait(&tokens, &t) == 0);
  } else if (way == 0 || sem_trywait(&tokens) != 0) {
    EXPECT(sem_wait(&tokens) == 0);
  }
}

static void* run(void* argument) {
  int me = (int)(long)argument;
  for (int i = 0; i < kRounds; ++i) {
    EXPECT(pthread_once(&once, initialise) == 0);
    enter(i % 3);
    EXPECT(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) <= 2);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    EXPECT(sem_post(&tokens) == 0);
    ++steps[me];
    int result = pthread_barrier_wait(&barrier);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
    for (int k = 0; k < kThreads; ++k) EXPECT(steps[k] == i + 1);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  EXPECT(sem_init(&tokens, 0, 2) == 0);
  EXPECT(pthread_barrier_init(&barrier, NULL, kThreads) == 0);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) EXPECT(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kThreads; ++i) EXPECT(!pthread_join(threads[i], NULL));
  sem_wait(&tokens);
  sem_wait(&tokens);
  struct timespec past = {1, 0};
  EXPECT(sem_trywait(&tokens) == -1 && errno == EAGAIN);
  EXPECT(sem_timedwait(&tokens, &past) == -1 && errno == ETIMEDOUT);
  EXPECT(pthread_barrier_destroy(&barrier) == 0 && sem_destroy(&tokens) == 0);
  printf("initialised %d serial %d\n", initialised, serial);
  return 0;
}
