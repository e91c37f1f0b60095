// SPDX-License-Identifier: Apache-2.0
//
// What an instruction does with numbers, where that is simple enough to be worked out by hand:
// moves, sums, extensions, addresses. For the few instructions that somebody asks about.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/effects.h"

namespace svd {

// Registers as they were before, times factors, plus a constant; modulo 2^64.
struct Sum {
  struct Term {
    Reg reg{};
    std::uint64_t factor = 1;
  };
  std::vector<Term> terms{};
  std::uint64_t constant = 0;
};

struct Formulas {
  // What is in a general register after it: a sum of which so many bytes count and the others are
  // 0, or what its first read of memory gave.
  struct Result {
    Reg reg{};
    std::optional<Sum> sum{};  // nothing: what was read
    unsigned bytes = 8;
    bool is_signed = false;  // of what was read: extended by its sign to `width`
    unsigned width = 8;
  };
  std::optional<Result> result{};
  // The address of its memory operand; not of those of push, pop and the like, nor with a segment.
  std::optional<Sum> address{};
  // push and call: it writes below the stack pointer; pop and ret: it reads at it.
  enum class Stack : std::uint8_t { kNone, kPush, kPop } stack{};
  // The general register whose low bytes its write to memory stores.
  std::optional<Reg> stored{};
};

class FormulaReader {
 public:
  FormulaReader();
  ~FormulaReader();
  FormulaReader(const FormulaReader&) = delete;
  FormulaReader& operator=(const FormulaReader&) = delete;

  Formulas read(std::span<const std::uint8_t> code, Pc pc) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
