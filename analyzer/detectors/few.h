// SPDX-License-Identifier: Apache-2.0
//
// A list that mostly has one element, and then lies in place: for shadow cells, of which there are
// as many as memory was touched. Elements are moved as bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace svd {

template <class T>
class Few {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Few() {}
  Few(const Few& other) { *this = other; }
  Few& operator=(const Few& other) {
    if (this == &other) return *this;
    reset();
    if (other.size_ > 1) grow_to(other.size_);
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
    other.capacity_ = 1;
    return *this;
  }
  ~Few() { reset(); }

  T* begin() { return capacity_ == 1 ? &in_place_ : several_; }
  T* end() { return begin() + size_; }
  const T* begin() const { return capacity_ == 1 ? &in_place_ : several_; }
  const T* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }

  T& add(const T& element) {
    if (size_ == capacity_) grow_to(2 * capacity_);
    return *std::construct_at(begin() + size_++, element);
  }
  // Keeps its memory.
  void clear() { size_ = 0; }
  void erase(T* element) {
    std::copy(element + 1, end(), element);
    --size_;
  }
  // Calls gone(T&) for each, in order.
  template <class F>
  void erase_if(F&& gone) {
    T* kept = begin();
    for (T& element : *this)
      if (!gone(element)) *kept++ = element;
    size_ = static_cast<std::uint32_t>(kept - begin());
  }

 private:
  void grow_to(std::uint32_t capacity) {
    T* more = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), more);
    std::uint32_t size = size_;
    reset();
    size_ = size;
    capacity_ = capacity;
    several_ = more;
  }
  void reset() {
    if (capacity_ > 1) std::allocator<T>().deallocate(several_, capacity_);
    size_ = 0;
    capacity_ = 1;
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 1;
  union {
    T in_place_;
    T* several_;
  };
};

}  // namespace svd
