// SPDX-License-Identifier: Apache-2.0
//
// What an analysis remembers about each byte of memory. Bytes that were always accessed together
// share a cell: an aligned word of 8 bytes has one cell, two (its halves) or eight (its bytes), and
// is cut on demand, each new cell a copy of the old one. So the answer is exact to the byte, at the
// price of the accesses that really happened. Memory grows with the words that were touched.
//
// A Cell is copyable; a cell that was never touched is Cell{}.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dpdg/bring_near.h"
#include "dpdg/large_pages.h"
#include "dpdg/page_table.h"
#include "svd/trace/types.h"

namespace svd {

template <class Cell>
class Shadow {
 public:
  Shadow() = default;
  Shadow(Shadow&&) noexcept = default;
  Shadow& operator=(Shadow&&) noexcept = default;
  Shadow(const Shadow&) = delete;  // pools_ points into blocks_
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow() = default;

  // Calls f(cell, address, bytes) for the cells that make up [address, address + size).
  template <class F>
  void touch(Addr address, std::uint64_t size, F&& f) {
    std::uint64_t at = address.value;
    while (size > 0) {
      std::uint64_t in_word = at % kWord;
      std::uint64_t bytes = std::min(size, kWord - in_word);
      touch_word(word(at), at - in_word, in_word, bytes, f);
      at += bytes;
      size -= bytes;
    }
  }

  // The same, for cells that exist; what lies between them was never touched.
  template <class F>
  void visit(Addr address, std::uint64_t size, F&& f) {
    each_word(address, size,
              [&](Word& word, std::uint64_t at, std::uint64_t first, std::uint64_t bytes) {
                touch_word(word, at, first, bytes, f);
              });
  }

  // Asks for what is touched soon, in two steps: first where the cell of the byte is, and when that
  // has come, the cell.
  void bring_place_near(Addr address) const {
    if (const Page* page = pages_.find(address.value / kPageBytes))
      bring_near(&(*page)[address.value % kPageBytes / kWord]);
  }
  void bring_cell_near(Addr address) const {
    const Cell* cell = find(address);
    if (cell == nullptr) return;
    for (std::size_t at = 0; at < sizeof(Cell); at += kLine)
      bring_near(reinterpret_cast<const char*>(cell) + at);
    bring_near(reinterpret_cast<const char*>(cell + 1) - 1);
  }

  // The cell of the byte, if there is one.
  const Cell* find(Addr address) const {
    const Page* page = pages_.find(address.value / kPageBytes);
    if (page == nullptr) return nullptr;
    Word word = (*page)[address.value % kPageBytes / kWord];
    if (word == kNone) return nullptr;
    return cells(word) + (address.value % kWord >> kWidthBits[division(word)]);
  }

  bool empty() const { return pages_.size() == 0; }

  // As if the bytes had never been touched.
  void clear(Addr address, std::uint64_t size) {
    each_word(address, size,
              [&](Word& word, std::uint64_t at, std::uint64_t first, std::uint64_t bytes) {
                touch_word(word, at, first, bytes,
                           [](Cell& cell, Addr, std::uint64_t) { cell = Cell{}; });
                if (bytes == kWord) release(word);
              });
  }

 private:
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::size_t kLine = 64;       // of the processor's cache
  static constexpr std::size_t kPool = 1U << 8;  // cells that are made at once
  // Blocks double until they fill two large pages, as those of PageTable.
  static constexpr std::size_t kBlock = 2 * kLargePage / (kPool * sizeof(Cell)) * kPool;

  // Where the cells of a word are: their first number times 4, plus how they divide the word.
  using Word = std::uint32_t;
  enum Division : std::uint32_t { kNone, kUndivided, kHalves, kBytes };
  static constexpr std::array<std::uint32_t, 4> kCells{0, 1, 2, 8};
  static constexpr std::array<unsigned, 4> kWidthBits{0, 3, 2, 0};  // of a cell's bytes, as a power
  using Page = std::array<Word, kPageBytes / kWord>;

  static Division division(Word word) { return static_cast<Division>(word % 4); }
  Cell* cells(Word word) const { return &pools_[word / 4 / kPool][word / 4 % kPool]; }

  Word& word(std::uint64_t at) { return pages_.make(at / kPageBytes)[at % kPageBytes / kWord]; }

  Word allocate(Division division) {
    std::vector<std::uint32_t>& free = free_[division];
    if (!free.empty()) {
      std::uint32_t first = free.back();
      free.pop_back();
      return first * 4 + division;
    }
    if (pools_.empty() || used_ + kCells[division] > kPool) add_pool();
    auto first = static_cast<std::uint32_t>((pools_.size() - 1) * kPool + used_);
    used_ += kCells[division];
    return first * 4 + division;
  }

  [[gnu::noinline]] void add_pool() {
    if (blocks_.empty() || blocks_.back().size() + kPool > blocks_.back().capacity())
      blocks_.emplace_back().reserve(std::clamp(pools_.size() * kPool, kPool, kBlock));
    auto& block = blocks_.back();
    block.resize(block.size() + kPool);
    pools_.push_back(block.data() + block.size() - kPool);
    used_ = 0;
  }

  // Its cells are Cell{} already.
  void release(Word& word) {
    free_[division(word)].push_back(word / 4);
    word = kNone;
  }

  void divide(Word& word, Division wanted) {
    Word finer = allocate(wanted);
    if (word != kNone) {
      std::uint32_t had = kCells[division(word)];
      std::uint32_t has = kCells[wanted];
      for (std::uint32_t i = 0; i < has; ++i) cells(finer)[i] = cells(word)[i * had / has];
      for (std::uint32_t i = 0; i < had; ++i) cells(word)[i] = Cell{};
      release(word);
    }
    word = finer;
  }

  template <class F>
  void touch_word(Word& word, std::uint64_t at, std::uint64_t first, std::uint64_t bytes, F&& f) {
    Division wanted = bytes == kWord ? kUndivided : first % 4 == 0 && bytes == 4 ? kHalves : kBytes;
    if (division(word) < wanted) divide(word, wanted);
    unsigned bits = kWidthBits[division(word)];
    Cell* cell = cells(word) + (first >> bits);
    std::uint64_t width = std::uint64_t{1} << bits;
    std::uint64_t offset = first;
    do {
      f(*cell++, Addr(at + offset), width);
      offset += width;
    } while (offset < first + bytes);
  }

  template <class F>
  void each_word(Addr address, std::uint64_t size, F&& f) {
    if (size == 0) return;
    std::uint64_t last = address.value + std::min(size - 1, ~address.value);
    auto in_page = [&](std::uint64_t number, Page& page) {
      std::uint64_t begin = std::max(address.value, number * kPageBytes);
      std::uint64_t end = std::min(last, number * kPageBytes + kPageBytes - 1);
      for (std::uint64_t at = begin - begin % kWord;; at += kWord) {
        Word& word = page[at % kPageBytes / kWord];
        std::uint64_t from = std::max(at, begin);
        if (word != kNone) f(word, at, from - at, std::min(at + kWord - 1, end) - from + 1);
        if (end - at < kWord) break;  // the next one may lie behind all memory
      }
    };
    pages_.each_between(address.value / kPageBytes, last / kPageBytes, in_page);
  }

  PageTable<Page> pages_;
  std::vector<Cell*> pools_;
  std::vector<std::vector<Cell, LargePages<Cell>>> blocks_;  // never grown: cells stay
  std::size_t used_ = 0;                                     // of the last pool
  std::array<std::vector<std::uint32_t>, 4> free_;
};

// Asks for the cells of addresses that are told some accesses ahead.
class CellsAhead {
 public:
  // The cell of an address that was told before: it has come, and may ask for what it holds
  // elsewhere. Null where there is none.
  template <class Cell>
  const Cell* bring(const Shadow<Cell>& shadow, Addr address) {
    Addr& oldest = told_[count_ % told_.size()];
    const Cell* come = shadow.find(oldest);
    shadow.bring_cell_near(told_[(count_ + told_.size() / 2) % told_.size()]);
    shadow.bring_place_near(address);
    oldest = address;
    ++count_;
    return come;
  }

 private:
  std::array<Addr, 16> told_{};  // of the first half where their cells are has been asked for
  std::size_t count_ = 0;
};

}  // namespace svd
