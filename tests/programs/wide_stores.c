// SPDX-License-Identifier: Apache-2.0
//
// wide_stores [ROUNDS]: accesses that do not fit a register: SSE and AVX loads and stores, x87,
// string instructions with and without repetition, unaligned and overlapping ones, and narrow loads
// of what they wrote.
#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

#include "expect.h"

enum { kSize = 256 };

static unsigned char from[kSize + 16], to[kSize + 16];

static void copy_strings(size_t n) {
  unsigned char *d = to, *s = from;
  __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

static void fill_strings(size_t words, uint64_t value) {
  unsigned char* d = to;
  __asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(value) : "memory");
}

static size_t scan_strings(unsigned char wanted) {
  unsigned char* d = to;
  size_t n = kSize;
  __asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(wanted) : "memory", "cc");
  return kSize - n;
}

static void copy_sse(size_t offset) {
  for (size_t i = 0; i + 16 <= kSize; i += 16) {
    __m128i word = _mm_loadu_si128((const __m128i*)(const void*)(from + i));
    _mm_storeu_si128((__m128i*)(void*)(to + offset + i), _mm_add_epi8(word, _mm_set1_epi8(1)));
  }
}

__attribute__((target("avx"))) static void copy_avx(void) {
  typedef long long Wide __attribute__((vector_size(32), aligned(1)));
  for (size_t i = 0; i + 32 <= kSize; i += 32) *(Wide*)(void*)(to + i) = *(Wide*)(void*)(from + i);
}

static unsigned narrow_sum(void) {
  unsigned sum = 0;
  for (size_t i = 0; i < kSize; ++i) sum = sum * 31 + to[i];
  for (size_t i = 0; i + 4 <= kSize; i += 3) {
    uint32_t word;
    memcpy(&word, to + i, 4);
    sum ^= word;
  }
  return sum;
}

int main(int argc, char** argv) {
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
  unsigned sum = 0;
  volatile long double extended = 1.0L;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned i = 0; i < kSize; ++i) from[i] = (unsigned char)(i * 7 + round);
    copy_strings(round % kSize);
    sum += narrow_sum();
    fill_strings(round % 32, round * 0x0101010101010101U);
    sum += narrow_sum();
    copy_sse(round % 16);
    sum += narrow_sum();
    if (__builtin_cpu_supports("avx")) copy_avx();
    sum += narrow_sum() + (unsigned)scan_strings((unsigned char)round);
    extended = extended * 1.5L + (long double)round;
  }
  printf("sum %u\n", sum);
  return 0;
}
