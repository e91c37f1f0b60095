// SPDX-License-Identifier: Apache-2.0
//
// Two threads that work until SIGINT or SIGTERM, which the program handles: it says so, cleans up
// and exits with the signal's number. "interruptible default" leaves both signals alone.
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static volatile sig_atomic_t received;

static void on_signal(int number) { received = number; }

static void* run(void* unused) {
  (void)unused;
  volatile long work = 0;
  while (received == 0) {
    for (int i = 0; i < 10000; ++i) ++work;
    usleep(1000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2 || strcmp(argv[1], "default") != 0) {
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
  }
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) EXPECT(!pthread_create(&threads[i], NULL, run, NULL));
  printf("ready\n");
  fflush(stdout);
  for (int i = 0; i < 2; ++i) EXPECT(!pthread_join(threads[i], NULL));
  printf("received %d\n", received);
  return received;
}
