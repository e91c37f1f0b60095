// SPDX-License-Identifier: Apache-2.0
//
// Condition variables: a bounded buffer with two producers and two consumers (wait, signal), a
// broadcast start, and a timed wait that times out.
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "expect.h"

enum { kSlots = 4, kItems = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t start;
static int started, buffer[kSlots], count, head;
static long consumed;

static void wait_for_start(void) {
  pthread_mutex_lock(&mutex);
  while (!started) pthread_cond_wait(&start, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void* produce(void* unused) {
  (void)unused;
  wait_for_start();
  for (int i = 1; i <= kItems; ++i) {
    pthread_mutex_lock(&mutex);
    while (count == kSlots) pthread_cond_wait(&not_full, &mutex);
    buffer[(head + count++) % kSlots] = i;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* consume(void* unused) {
  (void)unused;
  wait_for_start();
  for (int i = 0; i < kItems; ++i) {
    pthread_mutex_lock(&mutex);
    while (count == 0) {
      struct timespec t;
      clock_gettime(CLOCK_REALTIME, &t);
      t.tv_sec += 60;
      EXPECT(pthread_cond_timedwait(&not_empty, &mutex, &t) == 0);
    }
    consumed += buffer[head];
    head = (head + 1) % kSlots;
    --count;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  EXPECT(pthread_cond_init(&start, NULL) == 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    EXPECT(!pthread_create(&threads[i], NULL, i < 2 ? produce : consume, NULL));
  }
  pthread_mutex_lock(&mutex);
  started = 1;
  pthread_cond_broadcast(&start);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 4; ++i) EXPECT(!pthread_join(threads[i], NULL));

  struct timespec past = {1, 0};
  pthread_mutex_lock(&mutex);
  EXPECT(pthread_cond_timedwait(&not_empty, &mutex, &past) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  EXPECT(pthread_cond_destroy(&start) == 0);
  printf("consumed %ld\n", consumed);
  return 0;
}
