// SPDX-License-Identifier: Apache-2.0
//
// The accesses of an execution as a reverse walk asks for them: those of one step that happened,
// their bytes put together where the same is known of them, and what of the memory that comes next
// is asked for ahead, because most of the time of a walk would be waiting for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "slicer/walk_code.h"
#include "svd/trace/chunk.h"

namespace svd {

// Instances that a fault kept from having an effect, as executions come, the last one first.
class FaultsBack {
 public:
  explicit FaultsBack(std::span<const Seq> ascending) : left_(ascending) {}
  void reach(const Exec& exec) {
    while (!left_.empty() && left_.back() >= exec.end()) left_ = left_.first(left_.size() - 1);
  }
  // Of the execution that was reached: its last instruction.
  bool any(const Exec& exec) const { return !left_.empty() && left_.back() == exec.end() - 1; }
  bool faulted(const Exec& exec, std::size_t step) const {
    return any(exec) && step + 1 == exec.shape->part.end;
  }

 private:
  std::span<const Seq> left_;
};

// Calls f(slot, address, size) for the accesses of a step that happened. What faulted wrote
// nothing.
template <class F>
void each_access(const Exec& exec, const WalkStep& step, bool faulted, F&& f) {
  const Part& part = exec.shape->part;
  const Block& block = *exec.shape->block;
  std::uint16_t first = std::max(step.first_slot, part.first_slot);
  std::uint16_t end = std::min(step.end_slot, part.end_slot);
  if (exec.addresses == nullptr) return;
  const std::uint64_t* length = exec.lengths;
  if (exec.shape->ranges != 0)
    for (std::uint16_t s = part.first_slot; s < first; ++s) length += block.slots[s].is_range();
  for (std::uint16_t s = first; s < end; ++s) {
    const Slot& slot = block.slots[s];
    std::uint64_t size = slot.is_range() ? *length++ : slot.size;
    std::uint64_t address = exec.addresses[s - part.first_slot];
    bool happened = address != kAbsent.value && size != 0 && !(faulted && slot.write);
    if (happened) f(slot, Addr(address), size);
  }
}

// Adjacent bytes of an access that are the same.
template <class What>
struct Stretch {
  Addr address{};
  std::uint64_t size = 0;
  What what{};
};
template <class What>
void extend(std::vector<Stretch<What>>& all, Addr at, std::uint64_t length,
            const std::type_identity_t<What>& what) {
  if (!all.empty() && all.back().what == what && all.back().address + all.back().size == at)
    all.back().size += length;
  else
    all.push_back({at, length, what});
}

template <class Word>
class WordsAhead {
 public:
  void begin_chunk(const Chunk& chunk) { first_ = chunk.addresses.data(); }
  // Asks for what executions before this one access, in three steps: the cell, after that has come
  // the word, and by f(const Word&) what that leads to.
  template <class F>
  void bring(const ByteShadow<Word>& memory, const Exec& exec, F&& f) {
    if (exec.addresses == nullptr) return;
    auto number = static_cast<std::size_t>(exec.addresses - first_);
    if (number < 3 * kStage) return;
    for (std::size_t i = number; i < number + exec.shape->accesses; ++i) {
      spot(i - 3 * kStage) = memory.prefetch_cell(Addr(first_[i - 3 * kStage]));
      memory.prefetch_word(spot(i - 2 * kStage));
      if (const Word* word = memory.find(spot(i - kStage))) f(*word);
    }
  }

 private:
  static constexpr std::size_t kStage = 8;  // accesses
  using Spot = typename ByteShadow<Word>::Spot;
  Spot& spot(std::size_t access) { return spots_[access % spots_.size()]; }

  const std::uint64_t* first_ = nullptr;
  std::array<Spot, 4 * kStage> spots_{};  // of those asked for last
};

}  // namespace svd
