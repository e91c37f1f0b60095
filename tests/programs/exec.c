// SPDX-License-Identifier: Apache-2.0
//
// exec [COUNT]: replaces itself by itself COUNT times (twice if not said), the first time from a
// second thread, after an exec that fails.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static char** arguments;

static void* become(void* count) {
  execl("/nonexistent/program", "program", (char*)NULL);
  EXPECT(errno == ENOENT);
  execl(arguments[0], arguments[0], (char*)count, (char*)NULL);
  EXPECT(!"exec came back");
  return NULL;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 2;
  printf("%d to go\n", count);
  fflush(stdout);
  if (count == 0) return 7;
  arguments = argv;
  char next[12];
  snprintf(next, sizeof(next), "%d", count - 1);
  if (argc > 1) become(next);
  pthread_t thread;
  EXPECT(!pthread_create(&thread, NULL, become, next) && !pthread_join(thread, NULL));
  return 98;
}
