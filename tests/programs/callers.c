// SPDX-License-Identifier: Apache-2.0
//
// callers tail | deep: two threads write one buffer without a lock, from where a stack is not plain
// to see: a library that was called in the place of a return, or many calls deep.

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char buffer[64];
static const char text[2][64] = {"some text of a length that is not known", "and another one"};

__attribute__((noinline)) static void* put(const char* from, size_t size) {
  return memcpy(buffer, from, size);  // tail call
}

__attribute__((noinline)) static int descend(int depth, const char* from) {
  if (depth == 0) {
    buffer[1] = from[1];  // at the bottom
    return 1;
  }
  return descend(depth - 1, from) ^ depth;
}

static void* tail(void* from) {
  for (int i = 0; i < 10; ++i) put(from, strlen(from));
  return NULL;
}

static void* deep(void* from) { return descend(200, from) == 0 ? from : NULL; }

int main(int argc, char** argv) {
  int is_tail = argc > 1 && strcmp(argv[1], "tail") == 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, is_tail ? tail : deep, (void*)text[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  puts(buffer);
}
