// SPDX-License-Identifier: Apache-2.0
//
// One word of analysis state for each byte of the program's memory, exact to the byte. A word is
// held for 8 bytes at a time and split only where somebody writes a part, which few places ever
// see. A word equal to Word{} means "nothing". Memory: a word for each 8 bytes of every 4 KiB page
// that was ever set.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

template <class Word>
class ByteShadow {
 public:
  // Sets the word of each byte of [address, address + size).
  void set(Addr address, std::uint64_t size, Word word) {
    split_range(address.value, size, [&](std::uint64_t at, unsigned offset, unsigned length) {
      Page& page = make_page(at);
      std::size_t index = at >> 3 & kCellMask;
      std::uint64_t bit = std::uint64_t{1} << (at >> 3 & 63);
      std::uint64_t& splits = page.splits[at >> 9 & 7];
      if ((splits & bit) == 0) {
        if (length == 8) {
          page.cells[index] = word;
          return;
        }
        if (page.cells[index] == word) return;
        std::uint32_t part = take_bytes();
        bytes_[part].fill(page.cells[index]);
        page.parts[static_cast<std::uint16_t>(index)] = part;
        splits |= bit;
      }
      std::uint32_t part = page.parts[static_cast<std::uint16_t>(index)];
      auto& bytes = bytes_[part];
      for (unsigned i = offset; i < offset + length; ++i) bytes[i] = word;
      if (std::all_of(bytes.begin(), bytes.end(), [&](const Word& b) { return b == bytes[0]; })) {
        page.cells[index] = bytes[0];
        page.parts.erase(static_cast<std::uint16_t>(index));
        free_bytes_.push_back(part);
        splits &= ~bit;
      }
    });
  }

  // Calls f(Addr, length, word) for stretches of [address, address + size) that have one word that
  // is not nothing. f may set them.
  template <class F>
  void visit(Addr address, std::uint64_t size, F&& f) const {
    split_range(address.value, size, [&](std::uint64_t at, unsigned offset, unsigned length) {
      const Page* page = find_page(at);
      if (page == nullptr) return;
      std::size_t index = at >> 3 & kCellMask;
      if ((page->splits[at >> 9 & 7] >> (at >> 3 & 63) & 1) == 0) {
        Word word = page->cells[index];
        if (!(word == Word{})) f(Addr(at), length, word);
        return;
      }
      auto bytes = bytes_[page->parts.find(static_cast<std::uint16_t>(index))->second];
      for (unsigned i = offset; i < offset + length;) {
        unsigned end = i + 1;
        while (end < offset + length && bytes[end] == bytes[i]) ++end;
        if (!(bytes[i] == Word{})) f(Addr(at + (i - offset)), end - i, bytes[i]);
        i = end;
      }
    });
  }

  // Nothing, for all of it.
  void clear(Addr address, std::uint64_t size) {
    std::vector<std::pair<Addr, unsigned>> old;
    auto collect = [&old](Addr at, unsigned bytes, Word) { old.emplace_back(at, bytes); };
    if (size / 4096 > pages_.size()) {
      visit_all([&](Addr at, unsigned bytes, Word word) {
        if (at >= address && at < address + size) collect(at, bytes, word);
      });
    } else {
      visit(address, size, collect);
    }
    for (auto [at, bytes] : old) set(at, bytes, Word{});
  }

  Word at(Addr address) const {
    Word word{};
    visit(address, 1, [&](Addr, unsigned, const Word& w) { word = w; });
    return word;
  }

  // Calls f(Addr, length, word) for all stretches that are not nothing, in no order.
  template <class F>
  void visit_all(F&& f) const {
    for (const auto& [number, page] : pages_) visit(Addr(number << 12), 4096, f);
  }

  bool empty() const { return pages_.empty(); }
  std::uint64_t memory_bytes() const {
    return pages_.size() * sizeof(Page) + bytes_.size() * sizeof(bytes_[0]);
  }

 private:
  static constexpr std::uint64_t kCellMask = 511;
  struct Page {
    std::array<Word, 512> cells{};
    std::array<std::uint64_t, 8> splits{};  // bit: the cell's bytes differ; parts says where
    std::unordered_map<std::uint16_t, std::uint32_t> parts;
  };

  // Cells are aligned; f(address, offset in the cell, length).
  template <class F>
  static void split_range(std::uint64_t at, std::uint64_t size, F&& f) {
    while (size > 0) {
      unsigned offset = at & 7;
      unsigned length = static_cast<unsigned>(std::min<std::uint64_t>(8 - offset, size));
      f(at, offset, length);
      at += length;
      size -= length;
    }
  }

  const Page* find_page(std::uint64_t at) const {
    std::uint64_t number = at >> 12;
    Recent& recent = recent_[number & (recent_.size() - 1)];
    if (recent.number == number) return recent.page;
    auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    recent = {number, found->second.get()};
    return recent.page;
  }

  Page& make_page(std::uint64_t at) {
    if (const Page* page = find_page(at)) return *const_cast<Page*>(page);
    std::unique_ptr<Page>& page = pages_[at >> 12];
    page = std::make_unique<Page>();
    return *page;
  }

  std::uint32_t take_bytes() {
    if (free_bytes_.empty()) {
      bytes_.emplace_back();
      return static_cast<std::uint32_t>(bytes_.size() - 1);
    }
    std::uint32_t index = free_bytes_.back();
    free_bytes_.pop_back();
    return index;
  }

  // A small direct-mapped cache before the table of pages.
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  mutable std::array<Recent, 1024> recent_{};
  std::vector<std::array<Word, 8>> bytes_;
  std::vector<std::uint32_t> free_bytes_;
};

}  // namespace svd
