// SPDX-License-Identifier: Apache-2.0
//
// Who accesses each block of 4 bytes in the whole run, whatever lives there: nobody, a thread
// alone, or several. Memory: a byte for each block of every 4 KiB page that is accessed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dpdg/page_table.h"
#include "svd/trace/types.h"

namespace svd {

class Accessors {
 public:
  static constexpr std::uint64_t kBlock = 4;

  // `thread` counts from 1. Threads of high numbers are taken for several.
  void add(Addr address, std::uint64_t size, std::uint32_t thread) {
    auto who = static_cast<Who>(std::min<std::uint32_t>(thread, kSeveral));
    std::uint64_t last = (address.value + size - 1) / kBlock;
    for (std::uint64_t block = address.value / kBlock; block <= last; ++block) {
      Who& known = pages_.make(block / kPageBlocks)[block % kPageBlocks];
      known = known == 0 || known == who ? who : kSeveral;
    }
  }
  void add_several(Addr address, std::uint64_t size) { add(address, size, kSeveral); }

  // Whether another thread than this one may access it.
  bool other_than(std::uint32_t thread, std::uint64_t block) const {
    const Page* page = pages_.find(block / kPageBlocks);
    Who who = page == nullptr ? Who{0} : (*page)[block % kPageBlocks];
    return who != 0 && (who == kSeveral || who != thread);
  }

 private:
  using Who = std::uint8_t;  // 0: nobody
  static constexpr Who kSeveral = 255;
  static constexpr std::uint64_t kPageBlocks = 1024;
  using Page = std::array<Who, kPageBlocks>;

  PageTable<Page> pages_;
};

}  // namespace svd
