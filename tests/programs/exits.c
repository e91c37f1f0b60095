// SPDX-License-Identifier: Apache-2.0
//
// exits HOW: the ways to end that are no crash, while three threads still run: "return" from main,
// "exit", "_exit", "quick_exit", "from-thread" (a thread calls exit), "main-first" (main leaves by
// pthread_exit, the last thread ends the process).
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static const char* how;
static int running;

static void tell_exit(void) { printf("at exit\n"); }
static void tell_quick_exit(void) {
  static const char kText[] = "at quick exit\n";
  EXPECT(write(1, kText, strlen(kText)) > 0);
}

static void* run(void* number) {
  volatile long work = 0;
  __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
  if (strcmp(how, "main-first") == 0) {
    for (int i = 0; i < 100000; ++i) ++work;
    return NULL;
  }
  if (strcmp(how, "from-thread") == 0 && (long)number == 1) {
    usleep(20000);
    exit(6);
  }
  if ((long)number == 2) {
    while (1) pause();
  }
  while (1) {
    ++work;
    if (work % 100000 == 0) usleep(1000);
  }
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  how = argv[1];
  EXPECT(atexit(tell_exit) == 0 && at_quick_exit(tell_quick_exit) == 0);
  for (long i = 0; i < 3; ++i) {
    pthread_t thread;
    EXPECT(!pthread_create(&thread, NULL, run, (void*)i) && !pthread_detach(thread));
  }
  while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) < 3) usleep(1000);
  printf("%s\n", how);
  fflush(stdout);
  if (strcmp(how, "exit") == 0) exit(2);
  if (strcmp(how, "_exit") == 0) _exit(3);
  if (strcmp(how, "quick_exit") == 0) quick_exit(4);
  if (strcmp(how, "main-first") == 0) pthread_exit(NULL);
  while (strcmp(how, "from-thread") == 0) pause();
  return 5;
}
