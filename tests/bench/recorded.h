// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks on recorded programs share: the programs, recorded once into the build folder,
// and measurements each in a process of its own, so that its peak memory is its own too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "svd/trace/reader.h"

namespace svd::bench {

struct Program {
  const char* name;
  const char* size;
};
// Sizes give at least 100 million instructions.
inline constexpr std::array kPrograms{Program{"hash", "150000"}, Program{"radix", "1200000"},
                                      Program{"qsort", "40000"}, Program{"server", "8000"}};

// The trace of a program, recorded if it is not there yet.
std::string recorded(const Program& program);
// Ends the program when it cannot be read.
TraceReader open_trace(const std::string& path);

struct Cost {
  double wall = 0;           // seconds
  double processor = 0;      // seconds, of all threads
  double busiest = 0;        // of one thread
  double megabytes = 0;      // peak, resident
  std::uint64_t answer = 0;  // to be printed, and so that nothing is optimised away
};
using Work = std::function<std::uint64_t()>;

// The best of three.
Cost measure(const Work& work);
// Of one run of a command, whatever it prints.
Cost measure(const std::vector<std::string>& command);
// A command that runs the program.
std::vector<std::string> command_of(const Program& program);

}  // namespace svd::bench
