// SPDX-License-Identifier: Apache-2.0
//
// The dynamic side of the example trace: simulated memory, and what a thread carries along.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "svd/trace/types.h"

namespace svd::example {

// A piece of simulated memory.
struct Region {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  Region(std::uint64_t at, std::uint64_t size)
      : address(at), bytes(size + 8) {}  // a load may read 8 bytes at the end
  std::uint8_t* host(std::uint64_t a) { return bytes.data() + (a - address); }
};

struct Thread {
  ThreadId id;
  std::uint32_t block = 0;  // the next one
  std::uint64_t stack_pointer = 0;
  std::uint64_t chain = 0;
  std::uint64_t session = 0;
  std::uint64_t last = 0;  // the value loaded last
  std::uint64_t arrays = 0;
  std::vector<std::uint32_t> returns;    // blocks to return to, outermost first
  std::vector<std::uint16_t> rounds;     // of each block's loop
  std::vector<std::uint32_t> positions;  // of each array walk
  bool waits = false;
};

inline std::uint64_t load(const std::uint8_t* host, unsigned size) {
  std::uint64_t word;
  std::memcpy(&word, host, 8);
  return size == 8 ? word : word & ((std::uint64_t{1} << (8 * size)) - 1);
}

inline void store(std::uint8_t* host, unsigned size, std::uint64_t value) {
  switch (size) {
    case 1:
      std::memcpy(host, &value, 1);
      break;
    case 2:
      std::memcpy(host, &value, 2);
      break;
    case 4:
      std::memcpy(host, &value, 4);
      break;
    default:
      std::memcpy(host, &value, 8);
  }
}

}  // namespace svd::example
