// SPDX-License-Identifier: Apache-2.0
//
// The distinct number types of a trace. Each wraps one integer, converts from and to it only
// explicitly, and allows just the arithmetic that has a meaning: an ordinal plus a count is an
// ordinal, the difference of two ordinals is a count; names (thread, block, …) are only compared.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace svd {

// A name: equality, order and hash only.
template <class Tag, class Rep>
struct Name {
  using rep = Rep;
  Rep value{};
  constexpr Name() = default;
  constexpr explicit Name(Rep v) : value(v) {}
  friend constexpr auto operator<=>(Name, Name) = default;
};

// A position on a line: names plus distance.
template <class Tag>
struct Ordinal {
  using rep = std::uint64_t;
  std::uint64_t value{};
  constexpr Ordinal() = default;
  constexpr explicit Ordinal(std::uint64_t v) : value(v) {}
  friend constexpr auto operator<=>(Ordinal, Ordinal) = default;
  friend constexpr Ordinal operator+(Ordinal a, std::uint64_t n) { return Ordinal(a.value + n); }
  friend constexpr Ordinal operator-(Ordinal a, std::uint64_t n) { return Ordinal(a.value - n); }
  friend constexpr std::uint64_t operator-(Ordinal a, Ordinal b) { return a.value - b.value; }
  constexpr Ordinal& operator+=(std::uint64_t n) {
    value += n;
    return *this;
  }
};

// A dynamic instruction, numbered from 0 in the total order of the run.
using Seq = Ordinal<struct SeqTag>;
// An address of data, and an address of code.
using Addr = Ordinal<struct AddrTag>;
using Pc = Ordinal<struct PcTag>;

// A thread; never reused within a trace. Recorded traces count from 1 (the main thread).
using ThreadId = Name<struct ThreadTag, std::uint32_t>;
// A static block, statement, module, call stack: index into the trace's tables.
using BlockId = Name<struct BlockTag, std::uint32_t>;
using StatementId = Name<struct StatementTag, std::uint32_t>;
using ModuleId = Name<struct ModuleTag, std::uint32_t>;
using StackId = Name<struct StackTag, std::uint32_t>;
// Some part of a block, as a TraceWriter numbers them.
using PartId = Name<struct PartTag, std::uint32_t>;

// "No call stack was taken."
inline constexpr StackId kNoStack{std::numeric_limits<std::uint32_t>::max()};
// The address of a conditional access that did not happen. No access of a user program can have it.
inline constexpr Addr kAbsent{std::numeric_limits<std::uint64_t>::max()};

}  // namespace svd

template <class Tag, class Rep>
struct std::hash<svd::Name<Tag, Rep>> {
  std::size_t operator()(svd::Name<Tag, Rep> n) const noexcept { return std::hash<Rep>{}(n.value); }
};
template <class Tag>
struct std::hash<svd::Ordinal<Tag>> {
  std::size_t operator()(svd::Ordinal<Tag> n) const noexcept {
    return std::hash<std::uint64_t>{}(n.value);
  }
};
