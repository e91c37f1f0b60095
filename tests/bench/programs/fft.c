// SPDX-License-Identifier: Apache-2.0
//
// fft LOG: fast Fourier transform of 2^LOG complex numbers, radix 2, in place; the butterflies of
// each stage are dealt out to four threads.
#include <math.h>

#include "team.h"

typedef struct {
  double re, im;
} Complex;

static size_t n, bits;
static Complex *data, *roots;

static void* work(void* me) {
  size_t half = n / 2, share = half / kTeam, first = (size_t)me * share;
  for (size_t stage = 0; stage < bits; ++stage) {
    size_t width = (size_t)1 << stage;
    for (size_t b = first; b < first + share; ++b) {
      size_t low = b / width * 2 * width + b % width;
      Complex w = roots[b % width * (half / width)], x = data[low], y = data[low + width];
      Complex t = {w.re * y.re - w.im * y.im, w.re * y.im + w.im * y.re};
      data[low] = (Complex){x.re + t.re, x.im + t.im};
      data[low + width] = (Complex){x.re - t.re, x.im - t.im};
    }
    team_meet();
  }
  return NULL;
}

int main(int argc, char** argv) {
  bits = size_argument(argc, argv);
  n = (size_t)1 << bits;
  data = malloc(n * sizeof(*data));
  roots = malloc(n / 2 * sizeof(*roots));
  uint32_t random = 1;
  for (size_t i = 0; i < n; ++i) data[i] = (Complex){next_random(&random) / 4e9, 0};
  for (size_t i = 0; i < n / 2; ++i) {
    double angle = -6.283185307179586 * (double)i / (double)n;
    roots[i] = (Complex){cos(angle), sin(angle)};
  }
  team_run(work);
  printf("%.6f %.6f\n", data[0].re, data[n / 3].im);
  return 0;
}
