// SPDX-License-Identifier: Apache-2.0
//
// The program's memory in pages of 4 KiB, for tables that have a page of their own for each: ranges
// of bytes, cut to what lies in one page.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dpdg/page_table.h"

namespace svd {

inline constexpr unsigned kBytePageBits = 12;
inline constexpr std::uint64_t kBytePage = std::uint64_t{1} << kBytePageBits;

// f(address, size) of what lies in one page.
template <class F>
void each_page(std::uint64_t at, std::uint64_t size, F&& f) {
  while (size > 0) {
    std::uint64_t bytes = std::min(size, kBytePage - at % kBytePage);
    f(at, bytes);
    at += bytes;
    size -= bytes;
  }
}

// f(page, address, size) of what lies in each page that exists, by address.
template <class Page, class F>
void each_present(const PageTable<Page>& pages, std::uint64_t at, std::uint64_t size, F&& f) {
  if (size == 0) return;
  std::uint64_t last = at + std::min(size - 1, ~at);
  pages.each_between(at >> kBytePageBits, last >> kBytePageBits,
                     [&](std::uint64_t number, Page& page) {
                       std::uint64_t begin = std::max(number << kBytePageBits, at);
                       std::uint64_t room = kBytePage - begin % kBytePage;
                       f(page, begin, std::min(room, last - begin + 1));
                     });
}

}  // namespace svd
