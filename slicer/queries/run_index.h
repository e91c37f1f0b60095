// SPDX-License-Identifier: Apache-2.0
//
// Where in a run to look for something: for each chunk, which memory it can concern, what it
// executed how often, and where its threads stopped. Made by one pass; a question then decodes the
// few chunks that can hold its answer.
//
// Memory is told by 64-byte lines, hashed: a chunk that is named may hold nothing, one that is not
// named certainly holds nothing. The pages that the file keeps for each chunk are not enough: they
// leave out what the kernel and allocations did, and a chunk touches nearly every hot page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dpdg/lifetimes.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// Sizes are not 0.
inline bool overlap(Range a, Range b) {
  return a.address.value - b.address.value < b.size || b.address.value - a.address.value < a.size;
}

// So often a part of a block was executed in a chunk.
struct ShapeCount {
  BlockId block{};
  std::uint16_t first = 0, end = 0;  // its instructions
  std::uint32_t count = 0;
};

class RunIndex {
 public:
  // Chunks that cannot be decoded are told, and hold nothing.
  static RunIndex of(const TraceReader& trace, Diagnostics& diagnostics,
                     const ProgressFunction& progress = no_progress);

  // Whether something may have accessed any of these bytes, or made them new.
  bool may_touch(std::size_t chunk, Range bytes) const { return chunks_[chunk].touched.may(bytes); }
  // The same without reads.
  bool may_change(std::size_t chunk, Range bytes) const {
    return chunks_[chunk].changed.may(bytes);
  }

  std::span<const ShapeCount> shapes(std::size_t chunk) const { return chunks_[chunk].shapes; }

  // The last instruction of a thread in a chunk; nothing where it executed none.
  std::optional<Seq> last(std::size_t chunk, ThreadId thread) const;

 private:
  class Lines {
   public:
    void add(Range bytes);
    bool may(Range bytes) const;

   private:
    // Chunks touch some ten thousand lines: of so many bits few are set by chance.
    static constexpr unsigned kBits = 18;
    static constexpr unsigned kLineBits = 6;
    // What is longer (mappings, stacks) is kept as it is.
    static constexpr std::uint64_t kMostLines = 1024;
    static std::size_t place(std::uint64_t line) {
      return line * 0x9E3779B97F4A7C15ULL >> (64 - kBits);
    }
    std::vector<std::uint64_t> bits_ = std::vector<std::uint64_t>((1U << kBits) / 64);
    std::vector<Range> long_;
  };
  struct Last {
    ThreadId thread{};
    Seq seq{};
  };
  struct Entry {
    Lines touched, changed;
    std::vector<ShapeCount> shapes;
    std::vector<Last> last;
  };
  class Filler;
  std::vector<Entry> chunks_;
};

}  // namespace svd
