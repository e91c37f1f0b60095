// SPDX-License-Identifier: Apache-2.0
//
// radix N: radix sort of N 32-bit keys, a byte a pass, by four threads: count, prefix sums,
// scatter.
#include "team.h"

enum { kBuckets = 256 };

static size_t n, counts[kTeam][kBuckets];
static uint32_t *keys, *sorted;

static void scatter_positions(void) {
  size_t position = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (size_t t = 0; t < kTeam; ++t) {
      size_t count = counts[t][bucket];
      counts[t][bucket] = position;
      position += count;
    }
  }
}

static void* work(void* me) {
  size_t* count = counts[(size_t)me];
  size_t first = n / kTeam * (size_t)me;
  size_t end = (size_t)me == kTeam - 1 ? n : first + n / kTeam;
  for (int shift = 0; shift < 32; shift += 8) {
    for (size_t i = 0; i < kBuckets; ++i) count[i] = 0;
    for (size_t i = first; i < end; ++i) ++count[keys[i] >> shift & 0xff];
    team_meet();
    if (me == NULL) scatter_positions();
    team_meet();
    for (size_t i = first; i < end; ++i) sorted[count[keys[i] >> shift & 0xff]++] = keys[i];
    team_meet();
    if (me == NULL) {
      uint32_t* swap = keys;
      keys = sorted;
      sorted = swap;
    }
    team_meet();
  }
  return NULL;
}

int main(int argc, char** argv) {
  n = size_argument(argc, argv);
  keys = malloc(n * sizeof(*keys));
  sorted = malloc(n * sizeof(*sorted));
  uint32_t random = 1;
  for (size_t i = 0; i < n; ++i) keys[i] = next_random(&random);
  team_run(work);
  for (size_t i = 1; i < n; ++i) {
    if (keys[i - 1] > keys[i]) return 1;
  }
  printf("%u %u\n", keys[0], keys[n / 2]);
  return 0;
}
