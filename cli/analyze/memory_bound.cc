// SPDX-License-Identifier: Apache-2.0

#include "analyze/memory_bound.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <system_error>

namespace svd::cli {
namespace {

// In bytes; 0: not known.
std::uint64_t left_of_machine() {
  std::ifstream info("/proc/meminfo");
  std::uint64_t memory = 0, swap = 0, kilobytes = 0;
  for (std::string name; info >> name >> kilobytes;
       info.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name == "MemAvailable:") memory = kilobytes << 10;
    if (name == "SwapFree:") swap = kilobytes << 10;
  }
  return memory == 0 ? 0 : memory + swap;
}

// What the limit counts already: with a sanitizer, terabytes that are only reserved.
std::uint64_t data_of_process() {
  std::ifstream sizes("/proc/self/statm");
  std::uint64_t total = 0, resident = 0, shared = 0, code = 0, libraries = 0, data = 0;
  sizes >> total >> resident >> shared >> code >> libraries >> data;
  return data * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void bound_memory() {
  rlimit limit{};
  std::uint64_t left = left_of_machine();
  if (left == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, data_of_process() + left);
  setrlimit(RLIMIT_DATA, &limit);
}

bool lacks_memory(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) return true;
  const auto* system = dynamic_cast<const std::system_error*>(&failure);
  return system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                               system->code() == std::errc::not_enough_memory);
}

}  // namespace svd::cli
