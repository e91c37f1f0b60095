// SPDX-License-Identifier: Apache-2.0
//
// From page numbers to pages, which are made when they are first asked for and stay where they are.
// One probe of a hash table for most questions: a pass asks once for each access of the run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dpdg/large_pages.h"

namespace svd {

template <class Page>
class PageTable {
 public:
  // Null where there is none.
  Page* find(std::uint64_t number) const {
    for (std::size_t i = place(number);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].number == number) return slots_[i].page;
      if (slots_[i].page == nullptr) return nullptr;
    }
  }

  Page& make(std::uint64_t number) {
    Page* page = find(number);
    return page != nullptr ? *page : add(number);
  }

  // f(number, page), in the order in which they were made. That of the slots would fill another
  // table, which f puts the same numbers into, from one end, and take time in the square.
  template <class F>
  void each(F&& f) const {
    for (std::uint64_t number : numbers_) f(number, *find(number));
  }

  // f(number, page), by their numbers, of the pages from `first` to `last` that exist. What a
  // program reserves, or a damaged trace claims, has more numbers than there are pages.
  template <class F>
  void each_between(std::uint64_t first, std::uint64_t last, F&& f) const {
    if (last - first <= size()) {
      for (std::uint64_t number = first; number <= last; ++number)
        if (Page* page = find(number)) f(number, *page);
      return;
    }
    std::vector<std::uint64_t> there;
    for (std::uint64_t number : numbers_)
      if (number >= first && number <= last) there.push_back(number);
    std::sort(there.begin(), there.end());
    for (std::uint64_t number : there) f(number, *find(number));
  }

  std::size_t size() const { return numbers_.size(); }

 private:
  struct Slot {
    std::uint64_t number = 0;
    Page* page = nullptr;
  };

  // Fibonacci hashing: neighbours, which are most, lie far apart.
  std::size_t place(std::uint64_t number) const {
    return static_cast<std::size_t>(number * 0x9E3779B97F4A7C15U >> shift_);
  }

  [[gnu::noinline]] Page& add(std::uint64_t number) {
    if (2 * size() >= slots_.size()) grow();
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity())
      blocks_.emplace_back().reserve(std::clamp<std::size_t>(size(), 1, kBlock));
    Page& page = blocks_.back().emplace_back();
    put({number, &page});
    numbers_.push_back(number);
    return page;
  }

  void put(const Slot& slot) {
    std::size_t i = place(slot.number);
    while (slots_[i].page != nullptr) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old)
      if (slot.page != nullptr) put(slot);
  }

  static constexpr unsigned kFirstBits = 10;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << kFirstBits);
  unsigned shift_ = 64 - kFirstBits;
  // Blocks double until they fill two large pages, so that a small run pays for small tables.
  static constexpr std::size_t kBlock = std::max<std::size_t>(2 * kLargePage / sizeof(Page), 1);
  std::vector<std::vector<Page, LargePages<Page>>> blocks_;  // never grown: pages stay
  std::vector<std::uint64_t> numbers_;                       // of the pages, as they were made
};

}  // namespace svd
