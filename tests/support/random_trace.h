// SPDX-License-Identifier: Apache-2.0
//
// Random traces and logs for property tests: everything that the format can hold, and names chosen
// to be mistaken for something else. The same seed gives the same trace; `length` bounds executions
// and events, so that a shrunk counterexample is short.
#pragma once

#include <cstdint>
#include <string>

#include "svd/trace/text.h"

namespace svd::test {

void write_random_trace(const WriterFactory& make_writer, std::uint64_t seed, std::size_t length);

std::string random_std_log(std::uint64_t seed, std::size_t length);

}  // namespace svd::test
