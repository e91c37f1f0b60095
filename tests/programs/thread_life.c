// SPDX-License-Identifier: Apache-2.0
//
// The life of threads: return, pthread_exit, cancellation (deferred, in a blocking read) with
// clean-up handlers, detached threads, thread-specific data, a stack of our own, names.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "expect.h"

static pthread_key_t key;
static int destroyed, cleaned, ends[2];
static sem_t detached_done;

static void destroy(void* value) { destroyed += *(int*)value; }
static void clean(void* unused) {
  (void)unused;
  ++cleaned;
}

static void* returns(void* argument) {
  static int value = 7;
  pthread_setspecific(key, &value);
  prctl(PR_SET_NAME, "returner");
  return argument;
}

static void* exits(void* argument) {
  pthread_cleanup_push(clean, NULL);
  pthread_exit((char*)argument + 1);
  pthread_cleanup_pop(0);
}

static void* waits_for_ever(void* unused) {
  (void)unused;
  char byte;
  pthread_cleanup_push(clean, NULL);
  while (read(ends[0], &byte, 1) <= 0) {
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void* detaches(void* unused) {
  (void)unused;
  pthread_detach(pthread_self());
  sem_post(&detached_done);
  return NULL;
}

int main(void) {
  EXPECT(pipe(ends) == 0 && pthread_key_create(&key, destroy) == 0);
  EXPECT(sem_init(&detached_done, 0, 0) == 0);
  pthread_t thread;
  void* result;

  EXPECT(!pthread_create(&thread, NULL, returns, (void*)41) && !pthread_join(thread, &result));
  printf("returned %ld, destroyed %d\n", (long)result, destroyed);
  EXPECT(!pthread_create(&thread, NULL, exits, (void*)41) && !pthread_join(thread, &result));
  printf("exited %ld, cleaned %d\n", (long)result, cleaned);

  EXPECT(!pthread_create(&thread, NULL, waits_for_ever, NULL));
  EXPECT(pthread_setname_np(thread, "waits-for-ever") == 0);
  EXPECT(pthread_tryjoin_np(thread, &result) == EBUSY);
  usleep(20000);
  EXPECT(pthread_cancel(thread) == 0 && !pthread_join(thread, &result));
  printf("cancelled %d, cleaned %d\n", result == PTHREAD_CANCELED, cleaned);

  EXPECT(!pthread_create(&thread, NULL, detaches, NULL));
  sem_wait(&detached_done);

  enum { kStack = 1 << 18 };
  static char stack[kStack] __attribute__((aligned(4096)));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT(pthread_attr_setstack(&attributes, stack, kStack) == 0);
  EXPECT(!pthread_create(&thread, &attributes, returns, &key) && !pthread_join(thread, &result));
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  EXPECT(!pthread_create(&thread, &attributes, detaches, NULL));
  sem_wait(&detached_done);
  printf("own stack %d\n", result == (void*)&key);
  return 0;
}
