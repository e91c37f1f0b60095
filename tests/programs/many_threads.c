// SPDX-License-Identifier: Apache-2.0
//
// many_threads [TOTAL [AT-ONCE]]: creates and joins 10,000 threads, 128 at once.
#include <pthread.h>

#include "expect.h"

enum { kMostAtOnce = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t everybody = PTHREAD_COND_INITIALIZER;
static long sum;
static int present, at_once = 128;

// Waits until the whole batch is there, so that it really is that many at once.
static void* run(void* number) {
  pthread_mutex_lock(&mutex);
  sum += (long)number;
  if (++present % at_once == 0) {
    pthread_cond_broadcast(&everybody);
  } else {
    int batch_end = (present + at_once - 1) / at_once * at_once;
    while (present < batch_end) pthread_cond_wait(&everybody, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return number;
}

int main(int argc, char** argv) {
  int total = argc > 1 ? atoi(argv[1]) : 10000;
  if (argc > 2) at_once = atoi(argv[2]);
  EXPECT(at_once > 0 && at_once <= kMostAtOnce);
  int made = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 16);
  while (made < total) {
    static pthread_t threads[kMostAtOnce];
    if (total - made < at_once) at_once = total - made, present = 0;
    for (int i = 0; i < at_once; ++i) {
      EXPECT(!pthread_create(&threads[i], &attributes, run, (void*)(long)(made + i)));
    }
    for (int i = 0; i < at_once; ++i) {
      void* result;
      EXPECT(!pthread_join(threads[i], &result) && (long)result == made + i);
    }
    made += at_once;
  }
  printf("threads %d sum %ld\n", made, sum);
  return 0;
}
