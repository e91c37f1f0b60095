// SPDX-License-Identifier: Apache-2.0
//
// Where the names of an STD log lie in memory: room for 2^29 names each, far apart from each other,
// at 8 bytes a name.
#pragma once

#include <cstdint>

namespace svd {

inline constexpr std::uint32_t kMaxStdNames = std::uint32_t{1} << 29;
inline constexpr std::uint16_t kStdVariableSize = 4;

inline std::uint64_t std_variable(std::uint32_t number) {
  return (std::uint64_t{1} << 32) + 8 * std::uint64_t{number};
}
inline std::uint64_t std_lock(std::uint32_t number) {
  return (std::uint64_t{2} << 32) + 8 * std::uint64_t{number};
}

}  // namespace svd
