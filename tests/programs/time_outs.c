// SPDX-License-Identifier: Apache-2.0
//
// A client asks a server 100 times and gives it two seconds for each answer, while two threads
// work. Writes out how many answers came too late.
#include <pthread.h>
#include <time.h>

#include "expect.h"

enum { kRequests = 100, kPatience = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered;
static volatile long done, work;

static void* serve(void* unused) {
  pthread_mutex_lock(&mutex);
  while (answered < kRequests) {
    while (asked == answered) pthread_cond_wait(&changed, &mutex);
    answered = asked;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* toil(void* unused) {
  while (!done) work++;
  return unused;
}

int main(void) {
  pthread_t server, workers[2];
  int late = 0;
  for (int i = 0; i < 2; i++) EXPECT(!pthread_create(&workers[i], NULL, toil, NULL));
  EXPECT(!pthread_create(&server, NULL, serve, NULL));
  pthread_mutex_lock(&mutex);
  while (asked < kRequests) {
    struct timespec until;
    EXPECT(!clock_gettime(CLOCK_REALTIME, &until));
    until.tv_sec += kPatience;
    asked++;
    pthread_cond_broadcast(&changed);
    while (answered < asked) {
      if (pthread_cond_timedwait(&changed, &mutex, &until) == 0) continue;
      late++;
      while (answered < asked) pthread_cond_wait(&changed, &mutex);
    }
  }
  pthread_mutex_unlock(&mutex);
  EXPECT(!pthread_join(server, NULL));
  done = 1;
  for (int i = 0; i < 2; i++) EXPECT(!pthread_join(workers[i], NULL));
  printf("%d late\n", late);
  return 0;
}
