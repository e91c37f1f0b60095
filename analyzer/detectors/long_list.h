// SPDX-License-Identifier: Apache-2.0
//
// A list that only grows, and never moves what it holds: for millions of elements, where each page
// of memory that a longer copy needs costs a fault.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace svd {

template <class T>
class LongList {
 public:
  void push_back(T element) {
    if (size_ % kBlock == 0) blocks_.emplace_back().reserve(kBlock);
    blocks_.back().push_back(std::move(element));
    ++size_;
  }
  std::size_t size() const { return size_; }
  const T& back() const { return blocks_.back().back(); }
  const T& operator[](std::size_t index) const { return blocks_[index / kBlock][index % kBlock]; }
  T& operator[](std::size_t index) { return blocks_[index / kBlock][index % kBlock]; }

  // Calls f(const T&) for each, in order.
  template <class F>
  void each(F&& f) const {
    for (const std::vector<T>& block : blocks_)
      for (const T& element : block) f(element);
  }

 private:
  static constexpr std::size_t kBlock = 1U << 12;

  std::vector<std::vector<T>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace svd
