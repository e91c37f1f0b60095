// SPDX-License-Identifier: Apache-2.0
//
// hash N: four threads put, find and remove N keys each in one chained hash table under one mutex.
#include "team.h"

enum { kBuckets = 4096 };

typedef struct Entry {
  struct Entry* next;
  uint32_t key, value;
} Entry;

static Entry* buckets[kBuckets];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t n;
static long found;

static Entry** find(uint32_t key) {
  Entry** at = &buckets[key * 2654435761U >> 20];
  while (*at != NULL && (*at)->key != key) at = &(*at)->next;
  return at;
}

static void put(uint32_t key, uint32_t value) {
  Entry** at = find(key);
  if (*at == NULL) {
    *at = calloc(1, sizeof(Entry));
    (*at)->key = key;
  }
  (*at)->value += value;
}

static void take_out(uint32_t key) {
  Entry** at = find(key);
  Entry* entry = *at;
  if (entry == NULL) return;
  found += entry->value;
  *at = entry->next;
  free(entry);
}

static void* work(void* me) {
  uint32_t random = (uint32_t)(size_t)me + 1;
  for (size_t i = 0; i < n; ++i) {
    uint32_t key = next_random(&random) & 0x3fff;
    pthread_mutex_lock(&mutex);
    if (i % 4 == 3) {
      take_out(key);
    } else {
      put(key, 1);
    }
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  n = size_argument(argc, argv);
  team_run(work);
  printf("%d\n", found > 0);
  return 0;
}
