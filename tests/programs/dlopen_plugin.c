// SPDX-License-Identifier: Apache-2.0
//
// dlopen_plugin LIBRARY: loads it, calls into it from two threads, unloads it; three times.
#include <dlfcn.h>
#include <pthread.h>

#include "expect.h"

static int (*add)(int, int);

static void* call(void* number) {
  long sum = 0;
  for (int i = 0; i < 100; ++i) sum += add(i, (int)(long)number);
  return (void*)sum;
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW);
    EXPECT(library != NULL);
    *(void**)&add = dlsym(library, "plugin_add");
    pthread_t threads[2];
    long total = 0;
    for (long i = 0; i < 2; ++i) EXPECT(!pthread_create(&threads[i], NULL, call, (void*)i));
    for (int i = 0; i < 2; ++i) {
      void* sum;
      EXPECT(!pthread_join(threads[i], &sum));
      total += (long)sum;
    }
    printf("total %ld calls %d\n", total, *(int*)dlsym(library, "plugin_calls") > 0);
    EXPECT(dlclose(library) == 0);
  }
  EXPECT(dlopen("/nonexistent/library.so", RTLD_NOW) == NULL);
  return 0;
}
