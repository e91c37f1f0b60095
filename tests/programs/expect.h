// SPDX-License-Identifier: Apache-2.0
//
// How these programs check themselves: what must hold is checked in every build, and a program
// whose C library behaves otherwise than it should ends with status 99 and says where.
#ifndef SVD_TESTS_PROGRAMS_EXPECT_H
#define SVD_TESTS_PROGRAMS_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(99);                                                               \
    }                                                                         \
  } while (0)

#endif  // SVD_TESTS_PROGRAMS_EXPECT_H
