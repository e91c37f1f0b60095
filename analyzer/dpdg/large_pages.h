// SPDX-License-Identifier: Apache-2.0
//
// An allocator for tables that are asked all over, in no order: they lie in large pages of the
// machine where it has them, because else most questions wait for the page to be found as well.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace svd {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // of x86-64

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  explicit LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment(bytes));
    if (bytes >= kLargePage) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, alignment(count * sizeof(T)));
  }
  friend bool operator==(const LargePages&, const LargePages&) = default;

 private:
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= kLargePage ? kLargePage : alignof(T)};
  }
};

}  // namespace svd
