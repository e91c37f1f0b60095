// SPDX-License-Identifier: Apache-2.0
//
// Which bit of ChunkInfo::event_kinds stands for an event.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "svd/trace/event.h"

namespace svd {

template <class T, std::size_t i = 0>
constexpr std::uint64_t event_bit() {
  if constexpr (std::is_same_v<std::variant_alternative_t<i, EventBody>, T>) {
    return std::uint64_t{1} << i;
  } else {
    return event_bit<T, i + 1>();
  }
}

}  // namespace svd
