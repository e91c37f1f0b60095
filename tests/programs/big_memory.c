// SPDX-License-Identifier: Apache-2.0
//
// big_memory [MEGABYTES]: takes 1 GB in mapped and allocated pieces and writes to and reads from
// every page of it.
#include <stdint.h>

#include "expect.h"

enum { kPage = 4096, kMegabyte = 1 << 20, kPiece = 64 };

int main(int argc, char** argv) {
  int megabytes = argc > 1 ? atoi(argv[1]) : 1024;
  int pieces = (megabytes + kPiece - 1) / kPiece;
  char** memory = malloc((size_t)pieces * sizeof(*memory));
  for (int i = 0; i < pieces; ++i) {
    memory[i] = malloc((size_t)kPiece * kMegabyte);
    EXPECT(memory[i] != NULL);
    for (size_t at = 0; at < (size_t)kPiece * kMegabyte; at += kPage) {
      *(uint64_t*)(void*)(memory[i] + at) = at * 31 + (size_t)i;
    }
  }
  uint64_t sum = 0;
  for (int i = 0; i < pieces; ++i) {
    for (size_t at = 0; at < (size_t)kPiece * kMegabyte; at += kPage) {
      sum += *(uint64_t*)(void*)(memory[i] + at);
    }
    free(memory[i]);
  }
  free(memory);
  printf("pieces %d sum %llu\n", pieces, (unsigned long long)sum);
  return 0;
}
