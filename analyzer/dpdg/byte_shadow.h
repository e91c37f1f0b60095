// SPDX-License-Identifier: Apache-2.0
//
// One word of analysis state for each byte of the program's memory, exact to the byte. A word is
// held for 8 bytes at a time, and split in two or into bytes only where somebody means a part. A
// word equal to Word{} means "nothing". Memory: a cell for each 8 bytes of every 4 KiB page that
// was ever set, and the parts of those that are split.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "dpdg/bring_near.h"
#include "dpdg/byte_pages.h"
#include "dpdg/page_table.h"
#include "svd/trace/types.h"

namespace svd {

template <class Word>
class ByteShadow {
  static_assert(std::is_trivially_copyable_v<Word>);
  struct Page;

 public:
  ByteShadow() = default;
  ByteShadow(ByteShadow&&) noexcept = default;
  ByteShadow& operator=(ByteShadow&&) noexcept = default;
  ByteShadow(const ByteShadow&) = delete;  // cells point to their parts
  ByteShadow& operator=(const ByteShadow&) = delete;
  ~ByteShadow() = default;

  // Calls f(Addr, length, Word&) for the stretches of [address, address + size) that have one word
  // each, and keeps what f makes of it. f must leave the shadow alone.
  template <class F>
  void update(Addr address, std::uint64_t size, F&& f) {
    each_page(address.value, size, [&](std::uint64_t begin, std::uint64_t bytes) {
      update_page(pages_.make(begin >> kBytePageBits), begin, bytes, f);
    });
  }

  // The word of exactly these bytes, where it is kept as one; else null, and it takes an update().
  Word* single(Addr address, std::uint64_t size) {
    unsigned offset = address.value & 7;
    Page& page = pages_.make(address.value >> kBytePageBits);
    std::size_t index = address.value >> 3 & kCellMask;
    Cell& cell = page.cells[index];
    switch (page.split[index]) {
      case kUnsplit:
        return size == 8 && offset == 0 ? &cell.word : nullptr;
      case kHalves:
        return size == 4 && (offset & 3) == 0 ? &cell.halves->words[offset >> 2] : nullptr;
      default:
        return size == 1 ? &cell.bytes->words[offset] : nullptr;
    }
  }

  // Where a byte is kept; it stays there.
  class Spot {
    friend ByteShadow;
    Page* page_ = nullptr;  // null: nowhere yet
    std::uint16_t index_ = 0;
    std::uint16_t offset_ = 0;
  };
  // Brings nearer what is asked for soon: the cell of a byte, and after that has come, its word.
  Spot prefetch_cell(Addr address) const {
    Spot spot;
    spot.page_ = pages_.find(address.value >> kBytePageBits);
    if (spot.page_ == nullptr) return spot;
    spot.index_ = address.value >> 3 & kCellMask;
    spot.offset_ = address.value & 7;
    bring_near(&spot.page_->split[spot.index_]);
    bring_all_near(spot.page_->cells[spot.index_]);
    return spot;
  }
  void prefetch_word(const Spot& spot) const {
    if (spot.page_ != nullptr && spot.page_->split[spot.index_] != kUnsplit)
      bring_all_near(*part(*spot.page_, spot.index_, spot.offset_));
  }
  // The word, until the next change; null where nothing was ever set.
  const Word* find(const Spot& spot) const {
    if (spot.page_ == nullptr) return nullptr;
    if (spot.page_->split[spot.index_] == kUnsplit) return &spot.page_->cells[spot.index_].word;
    return part(*spot.page_, spot.index_, spot.offset_);
  }

  // The same of a byte.
  const Word* find(Addr address) const {
    const Page* page = pages_.find(address.value >> kBytePageBits);
    if (page == nullptr) return nullptr;
    std::size_t index = address.value >> 3 & kCellMask;
    if (page->split[index] == kUnsplit) return &page->cells[index].word;
    return part(*page, index, address.value & 7);
  }

  // The same by value.
  Word at(Addr address) const {
    const Word* word = find(address);
    return word != nullptr ? *word : Word{};
  }

  // Sets the word of each byte of [address, address + size).
  void set(Addr address, std::uint64_t size, Word word) {
    if (word == Word{}) return clear(address, size);
    update(address, size, [&word](Addr, unsigned, Word& kept) { kept = word; });
  }

  void clear(Addr address, std::uint64_t size) {
    update_present(address, size, [](Addr, unsigned, Word& kept) { kept = Word{}; });
  }

  // update() where something was ever set.
  template <class F>
  void update_present(Addr address, std::uint64_t size, F&& f) {
    each_present(pages_, address.value, size,
                 [&](Page& page, std::uint64_t begin, std::uint64_t bytes) {
                   update_page(page, begin, bytes, f);
                 });
  }

  // Calls f(Addr, length, word) for stretches of [address, address + size) that have one word that
  // is not nothing. f may set them.
  template <class F>
  void visit(Addr address, std::uint64_t size, F&& f) const {
    auto visit_page = [&](const Page& page, std::uint64_t begin, std::uint64_t bytes) {
      each_cell(begin, bytes, [&](std::uint64_t at, unsigned offset, unsigned length) {
        std::size_t index = at >> 3 & kCellMask;
        if (page.split[index] != kUnsplit) return visit_parts(page, index, at, offset, length, f);
        Word word = page.cells[index].word;
        if (!(word == Word{})) f(Addr(at), length, word);
      });
    };
    each_present(pages_, address.value, size, visit_page);
  }

  // Whether there is a word that is not nothing.
  bool any(Addr address, std::uint64_t size) const {
    unsigned offset = address.value & 7;
    if (size <= 8 - offset) {
      const Page* page = pages_.find(address.value >> kBytePageBits);
      if (page == nullptr) return false;
      std::size_t index = address.value >> 3 & kCellMask;
      if (page->split[index] == kUnsplit) return !(page->cells[index].word == Word{});
    }
    bool found = false;
    visit(address, size, [&found](Addr, unsigned, const Word&) { found = true; });
    return found;
  }

  // Calls f(Addr, length, word) for all stretches that are not nothing, in no order.
  template <class F>
  void visit_all(F&& f) const {
    pages_.each([&](std::uint64_t number, const Page&) {
      visit(Addr(number << kBytePageBits), kBytePage, f);
    });
  }

  // Calls f(Addr, length, Word&) for all stretches that have one word, in no order, and keeps what
  // f makes of it.
  template <class F>
  void update_all(F&& f) {
    pages_.each([&](std::uint64_t number, Page& page) {
      update_page(page, number << kBytePageBits, kBytePage, f);
    });
  }

  bool empty() const { return pages_.size() == 0; }
  std::uint64_t memory_bytes() const {
    return pages_.size() * sizeof(Page) + halves_.memory_bytes() + bytes_.memory_bytes();
  }

 private:
  static constexpr std::uint64_t kCellMask = 511;
  enum Split : std::uint8_t { kUnsplit, kHalves, kBytes };

  template <std::size_t N>
  union Parts {
    std::array<Word, N> words;
    Parts* next;  // of those that are free
    Parts() : next(nullptr) {}
  };

  // Parts of split cells.
  template <std::size_t N>
  class Pool {
   public:
    Parts<N>* take(Word word) {
      if (free_ == nullptr) grow();
      Parts<N>* parts = free_;
      free_ = parts->next;
      std::construct_at(&parts->words)->fill(word);
      return parts;
    }
    void give(Parts<N>* parts) {
      parts->next = free_;
      free_ = parts;
    }
    std::uint64_t memory_bytes() const { return made_ * sizeof(Parts<N>); }

   private:
    static constexpr std::size_t kBlock = kLargePage / sizeof(Parts<N>);
    [[gnu::noinline]] void grow() {
      if (blocks_.empty() || blocks_.back().size() == kBlock)
        blocks_.emplace_back().reserve(kBlock);
      give(&blocks_.back().emplace_back());
      ++made_;
    }
    std::vector<std::vector<Parts<N>, LargePages<Parts<N>>>> blocks_;  // never grown
    std::uint64_t made_ = 0;
    Parts<N>* free_ = nullptr;
  };

  union Cell {
    Word word{};
    Parts<2>* halves;
    Parts<8>* bytes;
  };
  struct Page {
    std::array<Cell, 512> cells{};
    std::array<Split, 512> split{};
  };

  // The word of a byte of a split cell.
  static const Word* part(const Page& page, std::size_t index, unsigned offset) {
    const Cell& cell = page.cells[index];
    return page.split[index] == kHalves ? &cell.halves->words[offset >> 2]
                                        : &cell.bytes->words[offset];
  }

  // It can lie in two lines of the cache.
  template <class T>
  static void bring_all_near(const T& what) {
    const char* first = reinterpret_cast<const char*>(&what);
    bring_near(first);
    if (64 % sizeof what != 0) bring_near(first + sizeof what - 1);
  }

  // Cells are aligned; f(address, offset in the cell, length).
  template <class F>
  static void each_cell(std::uint64_t at, std::uint64_t size, F&& f) {
    while (size > 0) {
      unsigned offset = at & 7;
      unsigned length = static_cast<unsigned>(std::min<std::uint64_t>(8 - offset, size));
      f(at, offset, length);
      at += length;
      size -= length;
    }
  }

  template <class F>
  static void visit_parts(const Page& page, std::size_t index, std::uint64_t at, unsigned offset,
                          unsigned length, F&& f) {
    bool halves = page.split[index] == kHalves;
    const Cell& cell = page.cells[index];
    std::array<Word, 8> words;  // a copy: f may change them
    for (unsigned i = offset; i < offset + length; ++i)
      words[i] = halves ? cell.halves->words[i >> 2] : cell.bytes->words[i];
    for (unsigned i = offset; i < offset + length;) {
      unsigned end = i + 1;
      while (end < offset + length && words[end] == words[i]) ++end;
      if (!(words[i] == Word{})) f(Addr(at + (i - offset)), end - i, words[i]);
      i = end;
    }
  }

  template <class F>
  void update_page(Page& page, std::uint64_t begin, std::uint64_t bytes, F&& f) {
    each_cell(begin, bytes, [&](std::uint64_t at, unsigned offset, unsigned length) {
      std::size_t index = at >> 3 & kCellMask;
      if (length == 8 && page.split[index] == kUnsplit)
        f(Addr(at), 8U, page.cells[index].word);
      else
        update_parts(page, index, at, offset, length, f);
    });
  }

  template <class F>
  void update_parts(Page& page, std::size_t index, std::uint64_t at, unsigned offset,
                    unsigned length, F&& f) {
    Cell& cell = page.cells[index];
    if (page.split[index] == kUnsplit) {
      Word before = cell.word;
      Word after = before;
      f(Addr(at), length, after);
      if (after == before) return;
      split(page, index, (offset & 3) == 0 && length == 4);
      set_parts(page, index, offset, length, after);
      return;
    }
    if (page.split[index] == kHalves && ((offset | length) & 3) != 0) split_halves(page, index);
    if (page.split[index] == kHalves) {
      update_words(cell.halves->words, at, offset, length, 2, f);
      if (cell.halves->words[0] == cell.halves->words[1]) join(page, index);
    } else {
      auto& words = cell.bytes->words;
      update_words(words, at, offset, length, 0, f);
      if (std::all_of(words.begin(), words.end(), [&](const Word& w) { return w == words[0]; }))
        join(page, index);
    }
  }

  template <std::size_t N, class F>
  static void update_words(std::array<Word, N>& words, std::uint64_t at, unsigned offset,
                           unsigned length, unsigned shift, F&& f) {
    unsigned first = offset >> shift, end = (offset + length) >> shift;
    for (unsigned i = first; i < end;) {
      unsigned next = i + 1;
      while (next < end && words[next] == words[i]) ++next;
      Word word = words[i];
      f(Addr(at + ((i - first) << shift)), (next - i) << shift, word);
      for (; i < next; ++i) words[i] = word;
    }
  }

  void set_parts(Page& page, std::size_t index, unsigned offset, unsigned length, Word word) {
    Cell& cell = page.cells[index];
    if (page.split[index] == kHalves)
      cell.halves->words[offset >> 2] = word;
    else
      std::fill_n(cell.bytes->words.begin() + offset, length, word);
  }

  void split(Page& page, std::size_t index, bool halves) {
    Cell& cell = page.cells[index];
    Word word = cell.word;
    if (halves)
      cell.halves = halves_.take(word);
    else
      cell.bytes = bytes_.take(word);
    page.split[index] = halves ? kHalves : kBytes;
  }

  void split_halves(Page& page, std::size_t index) {
    Cell& cell = page.cells[index];
    Parts<2>* halves = cell.halves;
    Parts<8>* bytes = bytes_.take(halves->words[0]);
    std::fill_n(bytes->words.begin() + 4, 4, halves->words[1]);
    halves_.give(halves);
    cell.bytes = bytes;
    page.split[index] = kBytes;
  }

  // All parts have the same word.
  void join(Page& page, std::size_t index) {
    Cell& cell = page.cells[index];
    if (page.split[index] == kHalves) {
      Parts<2>* halves = cell.halves;
      std::construct_at(&cell.word, halves->words[0]);
      halves_.give(halves);
    } else {
      Parts<8>* bytes = cell.bytes;
      std::construct_at(&cell.word, bytes->words[0]);
      bytes_.give(bytes);
    }
    page.split[index] = kUnsplit;
  }

  PageTable<Page> pages_;
  Pool<2> halves_;
  Pool<8> bytes_;
};

}  // namespace svd
