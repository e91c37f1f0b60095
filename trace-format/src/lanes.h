// SPDX-License-Identifier: Apache-2.0
//
// Four numbers side by side, and predictors of four: one instruction each where the processor has
// AVX2 and the caller is compiled for it, two or a few elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace svd {

inline constexpr std::size_t kLanes = 4;
// The alignment is said because it otherwise depends on what the caller is compiled for.
using Lanes [[gnu::vector_size(kLanes * sizeof(std::uint64_t)),
              gnu::aligned(kLanes * sizeof(std::uint64_t))]] = std::uint64_t;

// The same anywhere in an array of numbers. A member of a packed structure, because clang forgets
// the alignment that is said of a mere name for a type.
struct [[gnu::packed, gnu::may_alias]] LooseLanes {
  Lanes lanes;
};
[[gnu::always_inline]] inline LooseLanes& lanes_at(std::uint64_t* numbers) {
  return *reinterpret_cast<LooseLanes*>(numbers);
}

// Four small ones that are kept in little room.
using SmallLanes [[gnu::vector_size(kLanes)]] = std::int8_t;
[[gnu::always_inline]] inline void widen(const SmallLanes& small, Lanes& to) {
  using Signed [[gnu::vector_size(sizeof(Lanes))]] = std::int64_t;
  to = reinterpret_cast<Lanes>(__builtin_convertvector(small, Signed));
}

// StridePredictors.
struct StrideLanes {
  Lanes last{};
  Lanes stride{};
  Lanes candidate{};

  // Moves each to what was predicted or, where `missed` is all ones, to the last value plus
  // `residual`.
  [[gnu::always_inline]] void step(const Lanes& missed, const Lanes& residual) {
    Lanes difference = stride ^ ((stride ^ residual) & missed);
    auto same = reinterpret_cast<Lanes>(difference == candidate);
    stride ^= (stride ^ difference) & same;
    candidate = difference;
    last += difference;
  }
};

}  // namespace svd
