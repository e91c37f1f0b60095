// SPDX-License-Identifier: Apache-2.0
//
// A well-formed STD log of any length: 8 threads, 16 locks, 1000 variables, transactions of 5 to 20
// accesses, up to a third of them under a lock. Events are numbered from 1.
#pragma once

#include <cstdint>
#include <string>

namespace svd::test {

std::string std_workload(std::size_t events, std::uint64_t seed);

}  // namespace svd::test
