// SPDX-License-Identifier: Apache-2.0

#include "svd/trace/processors.h"

#include <sched.h>

namespace svd {

bool several_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

}  // namespace svd
