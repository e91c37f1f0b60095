// SPDX-License-Identifier: Apache-2.0
//
// An arc of the dynamic program dependence graph; dependences.h says what each kind means.
#pragma once

#include <cstdint>

#include "dpdg/instance.h"
#include "svd/trace/types.h"

namespace svd {

enum class ArcKind : std::uint8_t {
  kRegister,
  kMemory,
  kRemote,
  kChannel,
  kControl,
  kWriteAfterWrite,
  kWriteAfterRead
};
inline constexpr std::size_t kArcKinds = 7;

struct Arc {
  ArcKind kind{};
  Instance use{};  // the later one
  Seq def{};       // what it follows from
  Addr address{};  // of arcs through memory
  std::uint64_t size = 0;
};

}  // namespace svd
