// SPDX-License-Identifier: Apache-2.0
//
// Where in a run to look for something: for each chunk, which memory it can concern, what it
// executed how often, and of its threads where they stopped and who had written their registers.
// Made by one pass; a question then decodes the few chunks that can hold its answer.
//
// Memory is told by pieces, hashed: a chunk that is named may hold nothing, one that is not named
// certainly holds nothing. The pages that the file keeps for each chunk are not enough: they leave
// out what the kernel and allocations did, and every chunk touches the hot ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dpdg/code_table.h"
#include "dpdg/control_index.h"
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
  static RunIndex of(const TraceReader& trace, const CodeTable& code, const ControlIndex& control,
                     Diagnostics& diagnostics, const ProgressFunction& progress = no_progress);

  // Whether something may have accessed any of these bytes, or made them new.
  bool may_touch(std::size_t chunk, Range bytes) const { return chunks_[chunk].touched.may(bytes); }
  // The same without reads.
  bool may_change(std::size_t chunk, Range bytes) const {
    return chunks_[chunk].changed.may(bytes);
  }

  std::span<const ShapeCount> shapes(std::size_t chunk) const { return chunks_[chunk].shapes; }

  // The last instruction of a thread in a chunk; nothing where it executed none.
  std::optional<Seq> last(std::size_t chunk, ThreadId thread) const;
  // By cell, who had written the thread's registers when the chunk began (dpdg/register_writers.h);
  // empty where the thread executes nothing in it.
  std::span<const Seq> register_writers(std::size_t chunk, ThreadId thread) const;

 private:
  // A set of pieces of 2^kPieceBits bytes, as 2^kBits bits.
  template <unsigned kPieceBits, unsigned kBits>
  class Pieces {
   public:
    void add(Range bytes) {
      if (bytes.size == 0) return;
      std::uint64_t first = bytes.address.value >> kPieceBits, last = last_of(bytes);
      if (last - first >= kMostPieces) return long_.push_back(bytes);
      for (std::uint64_t piece = first; piece <= last; ++piece)
        bits_[place(piece) / 64] |= std::uint64_t{1} << place(piece) % 64;
    }
    bool may(Range bytes) const {
      if (bytes.size == 0) return false;
      std::uint64_t first = bytes.address.value >> kPieceBits, last = last_of(bytes);
      if (last - first >= kMostPieces) return true;
      for (std::uint64_t piece = first; piece <= last; ++piece)
        if ((bits_[place(piece) / 64] >> place(piece) % 64 & 1) != 0) return true;
      return std::any_of(long_.begin(), long_.end(),
                         [bytes](const Range& range) { return overlap(range, bytes); });
    }

   private:
    static constexpr std::uint64_t kMostPieces = 512;  // mappings and stacks have more
    static std::uint64_t last_of(Range bytes) {
      return (bytes.address.value + (bytes.size - 1)) >> kPieceBits;
    }
    static std::size_t place(std::uint64_t piece) {
      return piece * 0x9E3779B97F4A7C15ULL >> (64 - kBits);
    }
    std::vector<std::uint64_t> bits_ = std::vector<std::uint64_t>((1U << kBits) / 64);
    std::vector<Range> long_;
  };
  // A chunk touches some ten thousand lines, and changes some hundred thousand words at most; who
  // asks for writes often asks for what is never written, beside what always is.
  using Touched = Pieces<6, 17>;
  using Changed = Pieces<3, 19>;
  struct InChunk {
    ThreadId thread{};
    Seq last{};
    std::vector<Seq> registers{};
  };
  struct Entry {
    Touched touched;
    Changed changed;
    std::vector<ShapeCount> shapes;
    std::vector<InChunk> threads;
  };
  const InChunk* find(std::size_t chunk, ThreadId thread) const;
  class Filler;
  std::vector<Entry> chunks_;
};

}  // namespace svd
