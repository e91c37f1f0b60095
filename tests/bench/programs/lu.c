// SPDX-License-Identifier: Apache-2.0
//
// lu N: LU decomposition in place of an N by N matrix of doubles without pivoting; rows are dealt
// out to four threads, with a barrier for each column.
#include "team.h"

static size_t n;
static double* a;

static void* work(void* me) {
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = k + 1; i < n; ++i) {
      if (i % kTeam != (size_t)me) continue;
      double factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
    team_meet();
  }
  return NULL;
}

int main(int argc, char** argv) {
  n = size_argument(argc, argv);
  a = malloc(n * n * sizeof(*a));
  uint32_t random = 1;
  for (size_t i = 0; i < n * n; ++i) a[i] = next_random(&random) / 4e9 + (i % (n + 1) == 0) * 9.0;
  team_run(work);
  double product = 0;
  for (size_t i = 0; i < n; ++i) product += a[i * n + i];
  printf("%.6f\n", product);
  return 0;
}
