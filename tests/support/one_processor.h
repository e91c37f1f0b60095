// SPDX-License-Identifier: Apache-2.0
//
// For what is measured with one thread: from here on nothing is decoded ahead.
#pragma once

#include <sched.h>

#include <cstdlib>

namespace svd::test {

inline void use_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) std::exit(1);
}

}  // namespace svd::test
