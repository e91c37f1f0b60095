// SPDX-License-Identifier: Apache-2.0
//
// A set of bytes of the program's memory: a bit for each byte of every 4 KiB page that has some.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dpdg/byte_pages.h"
#include "dpdg/page_table.h"
#include "svd/trace/types.h"

namespace svd {

class ByteSet {
 public:
  void add(Addr address, std::uint64_t size) {
    each_page(address.value, size, [this](std::uint64_t at, std::uint64_t bytes) {
      each_word(pages_.make(at >> kBytePageBits), at, bytes,
                [](std::uint64_t& word, auto bits) { word |= bits; });
    });
  }

  void remove(Addr address, std::uint64_t size) {
    each_present_word(address, size,
                      [](std::uint64_t& word, std::uint64_t bits) { word &= ~bits; });
  }

  // Whether some byte of [address, address + size) is in it.
  bool any(Addr address, std::uint64_t size) const {
    std::uint64_t at = address.value;
    if (size <= 64 - (at & 63)) {
      const Page* page = pages_.find(at >> kBytePageBits);
      return page != nullptr && size > 0 && ((*page)[word_of(at)] & bits_of(at, size)) != 0;
    }
    bool found = false;
    each_present_word(address, size, [&](std::uint64_t& word, std::uint64_t bits) {
      found |= (word & bits) != 0;
    });
    return found;
  }

 private:
  using Page = std::array<std::uint64_t, kBytePage / 64>;

  static std::size_t word_of(std::uint64_t at) { return at % kBytePage / 64; }
  // Of bytes that lie in one word.
  static std::uint64_t bits_of(std::uint64_t at, std::uint64_t size) {
    return ~std::uint64_t{0} >> (64 - size) << (at & 63);
  }

  // f(word, its bits that are meant) of the pages that exist.
  template <class F>
  void each_present_word(Addr address, std::uint64_t size, F&& f) const {
    each_present(
        pages_, address.value, size,
        [&f](Page& page, std::uint64_t at, std::uint64_t bytes) { each_word(page, at, bytes, f); });
  }

  // f(word, its bits that are meant) for bytes of one page.
  template <class F>
  static void each_word(Page& page, std::uint64_t at, std::uint64_t size, F&& f) {
    while (size > 0) {
      std::uint64_t bytes = std::min(size, 64 - (at & 63));
      f(page[word_of(at)], bits_of(at, bytes));
      at += bytes;
      size -= bytes;
    }
  }

  PageTable<Page> pages_;
};

}  // namespace svd
