// SPDX-License-Identifier: Apache-2.0
//
// Asks the processor for memory that is used soon, without waiting for it. An instruction by name
// and not __builtin_prefetch: a function that does nothing else has no effect for GCC 12, which
// leaves out the calls of it.
#pragma once

namespace svd {

inline void bring_near(const void* what) {
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(what)));
}

}  // namespace svd
