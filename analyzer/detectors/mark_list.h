// SPDX-License-Identifier: Apache-2.0
//
// The accesses that one shadow cell remembers, in the order in which they came: mostly two, a write
// and a read, and then without an allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "detectors/touch.h"
#include "dpdg/bring_near.h"

namespace svd {

class MarkList {
 public:
  MarkList() = default;
  MarkList(const MarkList& other) { *this = other; }
  MarkList& operator=(const MarkList& other) {
    if (this == &other) return *this;
    size_ = 0;
    for (std::uint32_t i = 0; i < other.size_; ++i) add(other.at(i));
    return *this;
  }
  MarkList(MarkList&& other) noexcept { *this = std::move(other); }
  MarkList& operator=(MarkList&& other) noexcept {
    std::copy(other.first_, other.first_ + kInPlace, first_);
    std::swap(rest_, other.rest_);
    std::uint32_t bits = rest_bits_;
    rest_bits_ = other.rest_bits_;
    other.rest_bits_ = bits & 63U;
    size_ = other.size_;
    other.size_ = 0;
    return *this;
  }
  ~MarkList() {
    if (rest_ != nullptr) std::allocator<Mark>().deallocate(rest_, capacity());
  }

  std::size_t size() const { return size_; }
  void add(const Mark& mark) {
    if (size_ >= kInPlace && size_ - kInPlace == capacity()) grow();
    std::uint32_t last = size_++;
    at(last) = mark;
  }

  // Asks for those that do not lie in place.
  void bring_rest_near() const {
    if (rest_ != nullptr) bring_near(rest_);
  }

  // Calls f(Mark&) for each, in order.
  template <class F>
  void each(F&& f) {
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(size_, kInPlace); ++i) f(first_[i]);
    for (std::uint32_t i = kInPlace; i < size_; ++i) f(rest_[i - kInPlace]);
  }
  // Removes those that nobody remembers.
  void sweep() {
    std::uint32_t kept = 0;
    std::uint32_t next = 0;
    each([&](const Mark& mark) {
      if (mark.keepers != 0 && kept++ != next) at(kept - 1) = mark;
      ++next;
    });
    size_ = kept & kMostMarks;
  }

 private:
  static constexpr std::uint32_t kInPlace = 2;
  static constexpr unsigned kSizeBits = 26;
  static constexpr std::uint32_t kMostMarks = (std::uint32_t{1} << kSizeBits) - 1;

  std::uint32_t capacity() const { return rest_ == nullptr ? 0 : std::uint32_t{1} << rest_bits_; }
  Mark& at(std::uint32_t i) { return i < kInPlace ? first_[i] : rest_[i - kInPlace]; }
  const Mark& at(std::uint32_t i) const { return i < kInPlace ? first_[i] : rest_[i - kInPlace]; }

  void grow() {
    std::uint32_t had = capacity();
    std::uint32_t bits = rest_ == nullptr ? 0 : rest_bits_ + 1U;
    Mark* more = std::allocator<Mark>().allocate(std::size_t{1} << bits);
    std::uninitialized_copy(rest_, rest_ + had, more);
    if (rest_ != nullptr) std::allocator<Mark>().deallocate(rest_, had);
    rest_ = more;
    rest_bits_ = bits & 63U;
  }

  Mark first_[kInPlace];
  Mark* rest_ = nullptr;
  std::uint32_t size_ : kSizeBits = 0;
  std::uint32_t rest_bits_ : 32 - kSizeBits = 0;  // room for so many in rest_, as a power of two
};

}  // namespace svd
