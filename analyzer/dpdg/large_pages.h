// SPDX-License-Identifier: Apache-2.0
//
// An allocator for tables that are asked all over, in no order: they lie in large pages of the
// machine where it has them, because else most questions wait for the page to be found as well.
// What fills some comes from the system and goes back there at once: the heap would keep it, and
// lose up to a large page for each to their alignment.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace svd {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // of x86-64
inline constexpr std::size_t kSmallPage = std::size_t{4} << 10;

inline void* map_large_pages(std::size_t bytes) {
  std::size_t more = bytes + kLargePage;  // of which what lies before and behind them goes back
  void* all = mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  void* begin = all;
  std::align(kLargePage, bytes, begin, more);
  auto before = static_cast<std::size_t>(static_cast<char*>(begin) - static_cast<char*>(all));
  if (before > 0) munmap(all, before);
  std::size_t used = (bytes + kSmallPage - 1) / kSmallPage * kSmallPage;
  if (before < kLargePage) munmap(static_cast<char*>(begin) + used, kLargePage - before);
  madvise(begin, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return begin;
}

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  explicit LargePages(const LargePages<U>&) {}

  T* allocate(std::size_t count) {
    std::size_t bytes = count * sizeof(T);
    if (bytes < kLargePage) return std::allocator<T>().allocate(count);
    return static_cast<T*>(map_large_pages(bytes));
  }
  void deallocate(T* memory, std::size_t count) {
    std::size_t bytes = count * sizeof(T);
    if (bytes < kLargePage) return std::allocator<T>().deallocate(memory, count);
    munmap(memory, bytes);
  }
  friend bool operator==(const LargePages&, const LargePages&) = default;
};

}  // namespace svd
