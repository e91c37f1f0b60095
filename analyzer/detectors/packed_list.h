// SPDX-License-Identifier: Apache-2.0
//
// A list that only grows, of millions of elements each of which is much like those before it: they
// are kept as what tells them apart, in a few bytes each. Mostly read from the beginning to the
// end; a single one takes up to kBlock others.
//
// A Coder has put(Bytes&, const T&), and get(const std::uint8_t*&), which gives back the T that put
// has put there and goes on behind it. Both change the Coder in the same way; it is copyable, and
// small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace svd {

// Numbers take a byte for each 7 bits.
using Bytes = std::vector<std::uint8_t>;
inline void put_number(Bytes& bytes, std::uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<std::uint8_t>(number | 128));
  bytes.push_back(static_cast<std::uint8_t>(number));
}
inline std::uint64_t get_number(const std::uint8_t*& at) {
  std::uint64_t number = *at & 127U;
  for (unsigned shift = 7; (*at++ & 128U) != 0; shift += 7)
    number |= std::uint64_t{*at & 127U} << shift;
  return number;
}
// What is small in either direction becomes a small number.
inline std::uint32_t fold(std::uint32_t difference) {
  return difference << 1 ^ (0U - (difference >> 31));
}
inline std::uint32_t unfold(std::uint32_t number) { return number >> 1 ^ (0U - (number & 1)); }

template <class T, class Coder>
class PackedList {
 public:
  void push_back(const T& element) {
    if (size_ % kBlock == 0) begin_block();
    coder_.put(pages_.back(), element);
    ++size_;
  }
  std::size_t size() const { return size_; }

  T operator[](std::size_t index) const {
    const Block& block = blocks_[index / kBlock];
    Coder coder = block.coder;
    const std::uint8_t* at = pages_[block.page].data() + block.begin;
    for (std::size_t i = index % kBlock; i > 0; --i) coder.get(at);
    return coder.get(at);
  }

  // Calls f(const T&) for each from `begin` up to `end`, in order.
  template <class F>
  void each(std::size_t begin, std::size_t end, F&& f) const {
    for (std::size_t next = begin / kBlock * kBlock; next < end;) {
      const Block& block = blocks_[next / kBlock];
      Coder coder = block.coder;
      const std::uint8_t* at = pages_[block.page].data() + block.begin;
      for (std::size_t stop = std::min(next + kBlock, end); next < stop; ++next) {
        T element = coder.get(at);
        if (next >= begin) f(element);
      }
    }
  }
  // The same for some, by their numbers, which ascend.
  template <class F>
  void each_of(std::span<const std::uint32_t> numbers, F&& f) const {
    for (auto number = numbers.begin(); number != numbers.end();) {
      std::size_t next = *number / kBlock * kBlock;
      const Block& block = blocks_[*number / kBlock];
      Coder coder = block.coder;
      const std::uint8_t* at = pages_[block.page].data() + block.begin;
      for (std::size_t end = next + kBlock; number != numbers.end() && *number < end; ++next) {
        T element = coder.get(at);
        if (next != *number) continue;
        f(element);
        ++number;
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 512;
  static constexpr std::size_t kPage = std::size_t{1} << 20;  // bytes, and those of the last block
  static constexpr std::size_t kMore = std::size_t{1} << 14;  // which are mostly not so many
  struct Block {
    Coder coder;  // as it was before the first one
    std::uint32_t page = 0, begin = 0;
  };

  void begin_block() {
    if (pages_.empty() || pages_.back().size() >= kPage)
      pages_.emplace_back().reserve(kPage + kMore);
    blocks_.push_back({coder_, static_cast<std::uint32_t>(pages_.size() - 1),
                       static_cast<std::uint32_t>(pages_.back().size())});
  }

  std::vector<Block> blocks_;
  std::vector<Bytes> pages_;  // in each some blocks, one behind the other
  Coder coder_;
  std::size_t size_ = 0;
};

}  // namespace svd
