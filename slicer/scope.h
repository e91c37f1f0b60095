// SPDX-License-Identifier: Apache-2.0
//
// Sets of instances, and the limits of a slice made of them: what lies outside of its scope is not
// followed, so that a limited slice is the closure within the limits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "dpdg/instance.h"
#include "svd/trace/reader.h"

namespace svd {

// A bit for each instruction of the run.
class InstanceSet {
 public:
  InstanceSet() = default;  // of no run
  explicit InstanceSet(const TraceReader& trace) : first_(trace.first_seq()) {
    if (trace.chunks().empty()) return;
    std::uint64_t bits = trace.chunks().back().end_seq() - first_;
    words_.resize((bits + 63) / 64);
  }

  void add(Seq seq) { words_[(seq - first_) / 64] |= bit(seq); }
  bool has(Seq seq) const {
    return seq >= first_ && (seq - first_) / 64 < words_.size() &&
           (words_[(seq - first_) / 64] & bit(seq)) != 0;
  }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (std::uint64_t word : words_) all += static_cast<std::uint64_t>(std::popcount(word));
    return all;
  }
  // f(Seq), ascending.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        f(first_ + 64 * i + static_cast<std::uint64_t>(std::countr_zero(left)));
  }

 private:
  std::uint64_t bit(Seq seq) const { return std::uint64_t{1} << ((seq - first_) & 63); }
  Seq first_{};
  std::vector<std::uint64_t> words_;
};

// What is empty or null limits nothing. The criterion is in the slice wherever it lies.
struct Scope {
  Seq first{};
  Seq last{std::numeric_limits<std::uint64_t>::max()};
  std::vector<ThreadId> threads{};
  std::vector<bool> code{};                              // by InstrId
  float depth = std::numeric_limits<float>::infinity();  // the largest distance
  std::shared_ptr<const InstanceSet> within{};

  bool limits() const {
    return first != Seq() || last != Scope().last || !threads.empty() || !code.empty() ||
           depth != Scope().depth || within != nullptr;
  }
  bool admits(const Instance& me, float distance) const {
    return me.seq >= first && me.seq <= last && distance <= depth &&
           (threads.empty() ||
            std::find(threads.begin(), threads.end(), me.thread) != threads.end()) &&
           (code.empty() || code[me.id.value]) && (within == nullptr || within->has(me.seq));
  }
};

}  // namespace svd
