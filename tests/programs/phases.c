/* SPDX-License-Identifier: Apache-2.0
 *
 * Does before(), target(), after(), and says where their code is, so that a test can look for each
 * in the trace. A second thread is there from the beginning and works when they are done.
 *   phases            one after the other
 *   phases signals    target() stands between SIGUSR1 and SIGUSR2, which have a handler
 *   phases bare       the same, without one
 *   phases spin       between before() and target() passes four seconds without a system call
 *   phases crash      target() ends in a fault, after() never comes
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 1000 };

static volatile unsigned work;
static volatile int time_is_over;
static volatile sig_atomic_t handled;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int crash;

__attribute__((noinline)) void before(void) {
  for (int i = 0; i < ROUNDS; i++) work += 1;
}

__attribute__((noinline)) void target(void) {
  for (int i = 0; i < ROUNDS; i++) work += 2;
  if (crash) *(volatile int*)8 = 1;
}

__attribute__((noinline)) void after(void) {
  for (int i = 0; i < ROUNDS; i++) work += 3;
}

static void handle(int number) { handled += number; }

static void* help(void* unused) {
  pthread_mutex_lock(&gate);
  work += 4;
  pthread_mutex_unlock(&gate);
  return unused;
}

static void* sleep_for_a_while(void* unused) {
  sleep(4);
  time_is_over = 1;
  return unused;
}

static void spin(void) {
  pthread_t sleeper;
  pthread_create(&sleeper, NULL, sleep_for_a_while, NULL);
  while (!time_is_over) work += 5;
  pthread_join(sleeper, NULL);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int signals = strcmp(mode, "signals") == 0, bare = strcmp(mode, "bare") == 0;
  crash = strcmp(mode, "crash") == 0;
  printf("%p %p %p\n", (void*)before, (void*)target, (void*)after);
  fflush(stdout);
  if (signals) {
    signal(SIGUSR1, handle);
    signal(SIGUSR2, handle);
  }
  pthread_t helper;
  pthread_mutex_lock(&gate);
  pthread_create(&helper, NULL, help, NULL);
  pthread_setname_np(helper, "helper");

  before();
  if (signals || bare) raise(SIGUSR1);
  if (strcmp(mode, "spin") == 0) spin();
  target();
  if (signals || bare) raise(SIGUSR2);
  after();
  pthread_mutex_unlock(&gate);
  pthread_join(helper, NULL);
  return signals && handled != SIGUSR1 + SIGUSR2 ? 1 : 7;
}
