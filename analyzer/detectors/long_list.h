// SPDX-License-Identifier: Apache-2.0
//
// A list that only grows, and never moves what it holds: for millions of elements, where each page
// of memory that a longer copy needs costs a fault. Its blocks double, so that there are few of
// them, and lie in large pages.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "dpdg/large_pages.h"

namespace svd {

template <class T>
class LongList {
 public:
  void push_back(T element) {
    std::vector<T, LargePages<T>>& block = blocks_[block_of(size_)];
    if (block.empty()) block.reserve(kFirst << block_of(size_));
    block.push_back(std::move(element));
    ++size_;
  }
  std::size_t size() const { return size_; }
  const T& back() const { return (*this)[size_ - 1]; }
  const T& operator[](std::size_t index) const { return blocks_[block_of(index)][place_of(index)]; }
  T& operator[](std::size_t index) { return blocks_[block_of(index)][place_of(index)]; }

  // Calls f(const T&) for each, in order.
  template <class F>
  void each(F&& f) const {
    for (const std::vector<T, LargePages<T>>& block : blocks_)
      for (const T& element : block) f(element);
  }

 private:
  static constexpr std::size_t kFirst = 1U << 10;  // elements of the first block
  static constexpr std::size_t kBlocks = 32;

  static std::size_t block_of(std::size_t index) { return std::bit_width(index / kFirst + 1) - 1; }
  static std::size_t place_of(std::size_t index) {
    return index + kFirst - (kFirst << block_of(index));
  }

  std::array<std::vector<T, LargePages<T>>, kBlocks> blocks_;
  std::size_t size_ = 0;
};

}  // namespace svd
