// SPDX-License-Identifier: Apache-2.0
//
// Triples that a reverse walk has met from behind: the read and the write of the other thread that
// it read from; the access of the reading thread before these is looked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slicer/shared_list.h"
#include "slicer/wants.h"
#include "svd/trace/types.h"

namespace svd {

using Triples = std::uint32_t;  // a list of open ones; 0: empty

// A read from another thread whose reader's access before is looked for.
struct OpenTriple {
  OpenTriple() = default;
  OpenTriple(Place read, Place write, Distance distance_of_read, std::uint64_t own_of_read)
      : after_mark(read.mark),
        remote_mark(write.mark),
        own(own_of_read),
        after_id(read.id),
        remote_id(write.id),
        distance(distance_of_read) {}
  Place after() const { return {after_mark, after_id}; }
  Place remote() const { return {remote_mark, remote_id}; }

  Mark after_mark;
  Mark remote_mark;
  std::uint64_t own = 0;
  InstrId after_id{};
  InstrId remote_id{};
  Distance distance = 0;
};

// Where a thread may have triples open: most of what it accesses is elsewhere.
class TriplePages {
 public:
  void add(std::uint32_t thread, Addr at, unsigned bytes) {
    bytes_[place(thread, at)] += bytes;
    all_ += bytes;
  }
  void remove(std::uint32_t thread, Addr at, unsigned bytes) {
    bytes_[place(thread, at)] -= bytes;
    all_ -= bytes;
  }
  bool empty() const { return all_ == 0; }
  // False: there is none in these bytes, which are fewer than a page.
  bool any(std::uint32_t thread, Addr at, std::uint64_t size) const {
    if (all_ == 0) return false;
    Addr last = at + (size - 1);
    return bytes_[place(thread, at)] != 0 ||
           (at.value >> kPageBits != last.value >> kPageBits && bytes_[place(thread, last)] != 0);
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr unsigned kBits = 12;
  // Pages that have the same place are taken for one.
  static std::size_t place(std::uint32_t thread, Addr at) {
    std::uint64_t page = (at.value >> kPageBits) + (std::uint64_t{thread} << 52);
    return static_cast<std::size_t>(page * 0x9E3779B97F4A7C15U >> (64 - kBits));
  }
  std::uint64_t all_ = 0;
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(std::size_t{1} << kBits);
};

}  // namespace svd
