// SPDX-License-Identifier: Apache-2.0
//
// Lists that many bytes of memory have in common.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dpdg/bring_near.h"
#include "dpdg/large_pages.h"

namespace svd {

// Things that bytes refer to, and that are used again when no byte does.
template <class T>
class Shared {
 public:
  std::uint32_t make(const T& value, std::uint32_t next = 0) {
    std::uint32_t id = free_;
    if (id != 0) {
      free_ = node(id).next;
      bring_near(&node(free_));
    } else {
      id = add();
    }
    node(id) = {value, next, 0};
    if (next != 0) ++node(next).references;
    return id;
  }
  void hold(std::uint32_t id, std::uint32_t bytes) { node(id).references += bytes; }
  void release(std::uint32_t id, std::uint32_t bytes) {
    while (id != 0) {
      Node& done = node(id);
      done.references -= bytes;
      if (done.references != 0) return;
      std::uint32_t next = done.next;
      done.next = free_;
      free_ = id;
      id = next;
      bytes = 1;
    }
  }
  const T& operator[](std::uint32_t id) const { return node(id).value; }
  std::uint32_t next(std::uint32_t id) const { return node(id).next; }
  // Brings nearer what is asked for soon.
  void prefetch(std::uint32_t id) const { bring_near(&node(id)); }

 private:
  struct Node {
    T value;
    std::uint32_t next = 0;
    std::uint32_t references = 0;  // bytes and nodes
  };
  // As many as fit a large page.
  static constexpr unsigned kBlockBits = std::bit_width(kLargePage / sizeof(Node)) - 1;
  static constexpr std::size_t kBlock = std::size_t{1} << kBlockBits;

  Node& node(std::uint32_t id) { return blocks_[id >> kBlockBits][id % kBlock]; }
  const Node& node(std::uint32_t id) const { return blocks_[id >> kBlockBits][id % kBlock]; }
  [[gnu::noinline]] std::uint32_t add() {
    if (blocks_.back().size() == kBlock) blocks_.emplace_back().reserve(kBlock);
    blocks_.back().emplace_back();
    return static_cast<std::uint32_t>((blocks_.size() - 1) * kBlock + blocks_.back().size() - 1);
  }

  // The first one is the end of every list. Only the first block grows: what is small is cheap.
  using Block = std::vector<Node, LargePages<Node>>;
  std::vector<Block> blocks_ = std::vector<Block>(1, Block(1));
  std::uint32_t free_ = 0;
};

}  // namespace svd
