// SPDX-License-Identifier: Apache-2.0
//
// Code that exists only at run time: written to a page that is writable and executable, called,
// overwritten and called again; two threads run code of their own.
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "expect.h"

enum { kRounds = 100 };

// mov eax, constant; add eax, edi; ret
static void generate(unsigned char* code, int constant) {
  code[0] = 0xb8;
  memcpy(code + 1, &constant, 4);
  memcpy(code + 5, "\x01\xf8\xc3", 3);
}

static void* run(void* seed) {
  unsigned char* code =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(code != MAP_FAILED);
  long sum = 0;
  for (int i = 0; i < kRounds; ++i) {
    // A fresh place each time but every tenth: processors and their simulators see both.
    unsigned char* place = code + (i % 10 == 0 ? 0 : 16 * (i % 64));
    generate(place, i + (int)(long)seed);
    int (*function)(int) = (int (*)(int))(void*)place;
    sum += function(1000);
  }
  EXPECT(munmap(code, 4096) == 0);
  return (void*)sum;
}

int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) EXPECT(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < 2; ++i) {
    void* sum;
    EXPECT(!pthread_join(threads[i], &sum));
    printf("sum %ld\n", (long)sum);
  }
  return 0;
}
