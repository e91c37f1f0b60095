// SPDX-License-Identifier: Apache-2.0
//
// When something was done and by whom, in a word. Threads as the caller numbers them, below
// kMostThreads.
#pragma once

#include <cstdint>

#include "svd/trace/types.h"

namespace svd {

class Mark {
  static constexpr unsigned kSeqBits = 44;  // 17 million million instructions
  static constexpr std::uint64_t kSeqMask = (std::uint64_t{1} << kSeqBits) - 1;

 public:
  // One less than there is room for: the last is for what is no thread.
  static constexpr std::uint32_t kMostThreads = (1U << (64 - kSeqBits)) - 2;

  Mark() = default;  // nothing
  Mark(Seq seq, std::uint32_t thread)
      : word_((std::uint64_t{thread} + 1) << kSeqBits | ((seq.value + 1) & kSeqMask)) {}

  bool none() const { return word_ == 0; }
  Seq seq() const { return Seq((word_ & kSeqMask) - 1); }
  std::uint32_t thread() const { return static_cast<std::uint32_t>(word_ >> kSeqBits) - 1; }
  bool same_thread(Mark other) const { return (word_ ^ other.word_) >> kSeqBits == 0; }
  friend bool operator==(Mark, Mark) = default;

 private:
  std::uint64_t word_ = 0;
};

}  // namespace svd
