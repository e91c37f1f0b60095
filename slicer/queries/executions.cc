// SPDX-License-Identifier: Apache-2.0
#include "slicer/queries/executions.h"

#include <algorithm>

namespace svd {

Executions::Executions(RunView& run, std::vector<bool> wanted)
    : run_(run), wanted_(std::move(wanted)) {
  for (std::size_t i = 0; i < run_.trace().chunks().size(); ++i) count_ += count_in(i);
}

std::uint64_t Executions::count_in(std::size_t chunk) const {
  std::uint64_t count = 0;
  for (const ShapeCount& shape : run_.index().shapes(chunk)) {
    const std::vector<Step>& steps = run_.code().block(shape.block).steps;
    for (std::size_t i = shape.first; i < std::min<std::size_t>(shape.end, steps.size()); ++i)
      if (wanted_[steps[i].id.value]) count += shape.count;
  }
  return count;
}

std::vector<Seq> Executions::in(std::size_t index) {
  struct Walk {
    const CodeTable& code;
    const std::vector<bool>& wanted;
    std::vector<Seq> found;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      const std::vector<Step>& steps = code.block(exec.shape->id).steps;
      const Part& part = exec.shape->part;
      for (std::size_t i = part.first; i < std::min<std::size_t>(part.end, steps.size()); ++i)
        if (wanted[steps[i].id.value]) found.push_back(exec.seq + (i - part.first));
    }
  } walk{run_.code(), wanted_, {}};
  if (auto chunk = run_.chunk(index)) chunk->walk(walk);
  return std::move(walk.found);
}

std::optional<Seq> Executions::nth(std::int64_t n) {
  auto count = static_cast<std::int64_t>(count_);
  if (n < 0) n += count + 1;
  if (n < 1 || n > count) return std::nullopt;
  auto left = static_cast<std::uint64_t>(n - 1);
  for (std::size_t i = 0; i < run_.trace().chunks().size(); ++i) {
    std::uint64_t here = count_in(i);
    if (left >= here) {
      left -= here;
      continue;
    }
    std::vector<Seq> all = in(i);
    return left < all.size() ? std::optional(all[left]) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Seq> Executions::after(Seq seq) {
  for (std::size_t i = run_.trace().chunk_at(seq + 1); i < run_.trace().chunks().size(); ++i) {
    if (count_in(i) == 0) continue;
    std::vector<Seq> all = in(i);
    auto next = std::upper_bound(all.begin(), all.end(), seq);
    if (next != all.end()) return *next;
  }
  return std::nullopt;
}

std::optional<Seq> Executions::before(Seq seq) {
  if (run_.trace().chunks().empty()) return std::nullopt;
  for (std::size_t i = run_.last_chunk_at(seq) + 1; i-- > 0;) {
    if (count_in(i) == 0) continue;
    std::vector<Seq> all = in(i);
    auto next = std::lower_bound(all.begin(), all.end(), seq);
    if (next != all.begin()) return *(next - 1);
  }
  return std::nullopt;
}

std::uint64_t Executions::number(Seq seq) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < run_.trace().chunks().size(); ++i) {
    const ChunkInfo& info = run_.trace().chunks()[i];
    if (info.first_seq > seq) break;
    if (info.end_seq() <= seq) {
      number += count_in(i);
      continue;
    }
    std::vector<Seq> all = in(i);
    number +=
        static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), seq) - all.begin());
  }
  return number;
}

}  // namespace svd
