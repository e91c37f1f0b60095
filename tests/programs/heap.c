// SPDX-License-Identifier: Apache-2.0
//
// Every way of C to get and give back memory: malloc, calloc, realloc (grow, shrink, move, null,
// zero), aligned_alloc, posix_memalign, memalign, strdup, large blocks that are mapped; blocks
// freed by another thread than the one that made them; memory that is used again at once.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "expect.h"

enum { kBlocks = 200 };

static char* blocks[kBlocks];

static void* free_all(void* unused) {
  (void)unused;
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  return NULL;
}

static unsigned checksum(const char* bytes, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; ++i) sum = sum * 31 + (unsigned char)bytes[i];
  return sum;
}

int main(void) {
  unsigned sum = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      size_t size = (size_t)(i * 13 % 500 + 1);
      blocks[i] = i % 2 ? malloc(size) : calloc(1, size);
      EXPECT(blocks[i] != NULL);
      memset(blocks[i], i, size);
      sum += checksum(blocks[i], size);
    }
    pthread_t thread;
    EXPECT(!pthread_create(&thread, NULL, free_all, NULL) && !pthread_join(thread, NULL));
  }
  char* text = realloc(NULL, 10);
  memcpy(text, "beginning", 10);
  for (size_t size = 16; size < 1 << 20; size *= 2) text = realloc(text, size);
  text = realloc(text, 12);
  EXPECT(strcmp(text, "beginning") == 0);
  text = reallocarray(text, 3, 100);
  char* copy = strdup(text);
  EXPECT(strcmp(copy, "beginning") == 0);
  free(copy);
  free(text);
  free(NULL);

  void* aligned = NULL;
  EXPECT(posix_memalign(&aligned, 4096, 100) == 0 && (uintptr_t)aligned % 4096 == 0);
  free(aligned);
  aligned = aligned_alloc(64, 640);
  EXPECT((uintptr_t)aligned % 64 == 0);
  free(aligned);
  aligned = memalign(256, 1000);
  EXPECT((uintptr_t)aligned % 256 == 0 && malloc_usable_size(aligned) >= 1000);
  free(aligned);
  char* large = malloc(8 << 20);
  large[(8 << 20) - 1] = 'x';
  free(large);
  EXPECT(malloc((size_t)-1 / 2) == NULL);
  printf("sum %u\n", sum);
  return 0;
}
