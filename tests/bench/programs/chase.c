// SPDX-License-Identifier: Apache-2.0
//
// chase STEPS: four threads follow pointers through 16 MB (less if STEPS is less) in random order:
// as many cache misses an instruction as there can be.
#include "team.h"

enum { kMostNodes = 1 << 18 };

typedef struct Node {
  struct Node* next;
  uint64_t visits[7];  // a cache line
} Node;

static Node* nodes;
static size_t steps, count;

static void* work(void* me) {
  Node* at = &nodes[(size_t)me * (count / kTeam)];
  for (size_t i = 0; i < steps; ++i) {
    ++at->visits[(size_t)me];
    at = at->next;
  }
  return NULL;
}

int main(int argc, char** argv) {
  steps = size_argument(argc, argv);
  count = steps < kMostNodes ? steps : kMostNodes;
  nodes = calloc(count, sizeof(*nodes));
  uint32_t random = 1;
  uint32_t* order = malloc(count * sizeof(*order));
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  for (uint32_t i = count - 1; i > 0; --i) {
    uint32_t k = next_random(&random) % (i + 1), swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  for (uint32_t i = 0; i < count; ++i) nodes[order[i]].next = &nodes[order[(i + 1) % count]];
  team_run(work);
  printf("%lu\n", (unsigned long)nodes[0].visits[0]);
  return 0;
}
