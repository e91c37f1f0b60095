// SPDX-License-Identifier: Apache-2.0
//
// qsort N: four threads sort N records each with the C library's qsort and a comparison function.
#include "team.h"

typedef struct {
  uint32_t key;
  uint32_t payload[3];
} Record;

static size_t n;
static Record* records;

static int by_key(const void* a, const void* b) {
  uint32_t x = ((const Record*)a)->key, y = ((const Record*)b)->key;
  return x < y ? -1 : x > y;
}

static void* work(void* me) {
  qsort(&records[n * (size_t)me], n, sizeof(Record), by_key);
  return NULL;
}

int main(int argc, char** argv) {
  n = size_argument(argc, argv);
  records = calloc(n * kTeam, sizeof(*records));
  uint32_t random = 1;
  for (size_t i = 0; i < n * kTeam; ++i) records[i].key = next_random(&random);
  team_run(work);
  for (size_t i = 1; i < n; ++i) {
    if (records[i - 1].key > records[i].key) return 1;
  }
  printf("%u\n", records[n / 2].key);
  return 0;
}
