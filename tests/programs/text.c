// SPDX-License-Identifier: Apache-2.0
//
// text [ROUNDS]: one thread that lives in the C library: printing into and parsing out of strings,
// searching, copying, sorting with qsort, buffered output.
#include <string.h>

#include "expect.h"

enum { kWords = 400, kLength = 24 };

static char words[kWords][kLength];
// Not on the stack, whose alignment, and so the work of strlen, depends on the environment.
static _Alignas(64) char line[kLength * 8];

static int by_text(const void* a, const void* b) { return strcmp(a, b); }

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 10;
  unsigned sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kWords; ++i) {
      snprintf(words[i], kLength, "word-%d-%x", i * 7919 % 1000, (unsigned)(i * round));
    }
    qsort(words, kWords, kLength, by_text);
    line[0] = 0;
    for (int i = 0; i < kWords; ++i) {
      int number = 0;
      unsigned hex = 0;
      EXPECT(sscanf(words[i], "word-%d-%x", &number, &hex) == 2);
      if (i % 8 == 0) line[0] = 0;
      strcat(line, words[i]);
      sum += (unsigned)number + hex + (unsigned)strlen(line);
      if (strstr(line, "99") != NULL) sum += (unsigned)(strchr(line, '9') - line);
    }
    printf("%s %u\n", line, sum);
  }
  return 0;
}
