// SPDX-License-Identifier: Apache-2.0
//
// copy ROUNDS: four threads copy, move and fill memory in pieces from 8 bytes to 64 KB, as servers
// do with their buffers.
#include <string.h>

#include "team.h"

enum { kBuffer = 1 << 17 };

static size_t rounds;
static unsigned sums[kTeam];

static void* work(void* me) {
  uint32_t random = (uint32_t)(size_t)me + 1;
  unsigned char *from = malloc(kBuffer), *to = malloc(kBuffer);
  memset(from, (int)(size_t)me, kBuffer);
  for (size_t i = 0; i < rounds; ++i) {
    size_t size = (size_t)8 << next_random(&random) % 14;
    size_t offset = next_random(&random) % (kBuffer / 2 - 64);
    switch (i % 4) {
      case 0:
        memmove(to + offset, to + offset / 2, size);
        break;
      case 1:
        memset(from + offset, (int)i, size);
        break;
      default:
        memcpy(to + offset, from + offset / 3, size);
    }
    sums[(size_t)me] += to[offset];
  }
  free(from);
  free(to);
  return NULL;
}

int main(int argc, char** argv) {
  rounds = size_argument(argc, argv);
  team_run(work);
  printf("%u\n", sums[0] + sums[1] + sums[2] + sums[3]);
  return 0;
}
