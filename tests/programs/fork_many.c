// SPDX-License-Identifier: Apache-2.0
//
// fork_many [CHILDREN]: forks 100 children, each of which works and exits with a status of its own;
// a second thread keeps running in the parent meanwhile; one vfork with exec at the end.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static int stop;
static long turns;

static void* keep_running(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    ++turns;
    usleep(100);
  }
  return NULL;
}

static int work(int number) {
  char* memory = malloc(1000);
  for (int i = 0; i < 1000; ++i) memory[i] = (char)(i * number);
  int sum = memory[number] & 63;
  free(memory);
  return sum;
}

int main(int argc, char** argv) {
  int children = argc > 1 ? atoi(argv[1]) : 100;
  pthread_t thread;
  EXPECT(!pthread_create(&thread, NULL, keep_running, NULL));
  long statuses = 0, expected = 0;
  for (int i = 0; i < children; ++i) {
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) _exit(work(i));
    expected += work(i);
    if (i % 10 == 9 || i == children - 1) {
      int status;
      while (wait(&status) > 0) statuses += WEXITSTATUS(status);
    }
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  EXPECT(!pthread_join(thread, NULL) && turns > 0);
  fflush(stdout);
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char*)NULL);
    _exit(97);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  printf("children %d statuses %d\n", children, statuses == expected);
  return 0;
}
