// SPDX-License-Identifier: Apache-2.0
//
// How many random runs a test makes: what takes some seconds, or as many as SVD_RANDOM_RUNS says
// ("make random").
#pragma once

#include <cstdlib>

namespace svd::test {

inline std::size_t random_runs(std::size_t usual) {
  const char* wanted = std::getenv("SVD_RANDOM_RUNS");
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

}  // namespace svd::test
