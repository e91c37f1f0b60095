// SPDX-License-Identifier: Apache-2.0
//
// A list that mostly has few elements, and then lies in place: for shadow cells, of which there are
// as many as memory was touched. Elements are moved as bytes. 4 bytes more than those in place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "dpdg/bring_near.h"

namespace svd {

template <class T, std::uint32_t kInPlace = 1>
class Few {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Few() {}
  Few(const Few& other) { *this = other; }
  Few& operator=(const Few& other) {
    if (this == &other) return *this;
    reset();
    if (other.size_ > kInPlace) grow_to(other.size_);
    std::copy(other.begin(), other.end(), begin());
    size_ = other.size_;
    return *this;
  }
  Few(Few&& other) noexcept { *this = std::move(other); }
  Few& operator=(Few&& other) noexcept {
    if (this == &other) return *this;
    reset();
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(&other), sizeof *this);
    other.size_ = 0;
    other.room_ = 0;
    return *this;
  }
  ~Few() { reset(); }

  T* begin() { return room_ == 0 ? in_place_ : elsewhere_.elements; }
  T* end() { return begin() + size_; }
  const T* begin() const { return room_ == 0 ? in_place_ : elsewhere_.elements; }
  const T* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }

  T& add(const T& element) {
    if (size_ == capacity()) grow_to(capacity() + 1);
    T* added = std::construct_at(end(), element);
    size_ = (size_ + 1U) & kMost;
    return *added;
  }
  // Keeps its memory.
  void clear() { size_ = 0; }
  void erase(T* element) {
    std::copy(element + 1, end(), element);
    size_ = (size_ - 1U) & kMost;
  }
  // Calls gone(T&) for each, in order.
  template <class F>
  void erase_if(F&& gone) {
    T* kept = begin();
    for (T& element : *this) {
      if (gone(element)) continue;
      if (kept != &element) *kept = element;
      ++kept;
    }
    size_ = static_cast<std::uint32_t>(kept - begin()) & kMost;
  }

  // Asks for those that do not lie in place.
  void bring_rest_near() const {
    if (room_ != 0) bring_near(elsewhere_.elements);
  }

 private:
  static constexpr unsigned kSizeBits = 26;
  static constexpr std::uint32_t kMost = (std::uint32_t{1} << kSizeBits) - 1;
  // So that the elements say how it is aligned.
  struct [[gnu::packed]] Elsewhere {
    T* elements;
  };

  std::uint32_t capacity() const { return room_ == 0 ? kInPlace : std::uint32_t{1} << room_; }
  void grow_to(std::uint32_t least) {
    auto room = static_cast<std::uint32_t>(std::bit_width(least - 1));
    T* more = std::allocator<T>().allocate(std::size_t{1} << room);
    std::uninitialized_copy(begin(), end(), more);
    std::uint32_t size = size_;
    reset();
    size_ = size & kMost;
    room_ = room & 63U;
    elsewhere_.elements = more;
  }
  void reset() {
    if (room_ != 0) std::allocator<T>().deallocate(elsewhere_.elements, capacity());
    size_ = 0;
    room_ = 0;
  }

  std::uint32_t size_ : kSizeBits = 0;
  std::uint32_t room_ : 32 - kSizeBits = 0;  // elsewhere, as a power of two; 0: they lie in place
  union {
    T in_place_[kInPlace];
    Elsewhere elsewhere_;
  };
};

}  // namespace svd
