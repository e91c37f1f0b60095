// SPDX-License-Identifier: Apache-2.0
//
// arithmetic [ROUNDS]: one thread, no library calls in its loops: integer and floating-point loops,
// recursion, a jump table, calls through pointers. Its instruction count is the same in every run.
#include <stdint.h>

#include "expect.h"

typedef uint32_t (*Step)(uint32_t);

static uint32_t rotate(uint32_t x) { return x << 7 | x >> 25; }
static uint32_t mix(uint32_t x) { return x * 2654435761U ^ x >> 15; }
static uint32_t fold(uint32_t x) { return (x & 0xffff) + (x >> 16); }
static Step volatile steps[] = {rotate, mix, fold};

static uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static uint32_t interpret(uint32_t program, uint32_t x) {
  for (; program != 0; program >>= 3) {
    switch (program & 7) {
      case 0:
        x += 3;
        break;
      case 1:
        x ^= 0x55;
        break;
      case 2:
        x = x << 1 | x >> 31;
        break;
      case 3:
        x -= program;
        break;
      case 4:
        x *= 5;
        break;
      case 5:
        x = ~x;
        break;
      case 6:
        x /= 3;
        break;
      default:
        x %= 1000003;
    }
  }
  return x;
}

static double matrix(int rounds) {
  static double a[24][24], b[24][24], c[24][24];
  for (int i = 0; i < 24 * 24; ++i) a[i / 24][i % 24] = i, b[i % 24][i / 24] = 1.0 / (i + 1);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 24; ++i) {
      for (int j = 0; j < 24; ++j) {
        double sum = 0;
        for (int k = 0; k < 24; ++k) sum += a[i][k] * b[k][j];
        c[i][j] = sum + c[j][i] / 2;
      }
    }
  }
  return c[3][5];
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 20;
  uint32_t x = 1;
  for (int i = 0; i < rounds * 1000; ++i) x = steps[i % 3](x + (uint32_t)i);
  for (int i = 0; i < rounds * 100; ++i) x = interpret(0x3ade1f + (uint32_t)i, x);
  printf("%u %u %.6f\n", x, fibonacci(18), matrix(rounds / 4));
  return 0;
}
