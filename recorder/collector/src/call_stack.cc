// SPDX-License-Identifier: Apache-2.0

#include "call_stack.h"

#include <algorithm>

#include "svd/trace/process.h"

namespace svd {
namespace {

// Deep enough to tell two uses of a container apart, and cheap enough for every malloc.
constexpr std::size_t kDepth = 24;
// What a program with endless variety may cost; later stacks are not kept.
constexpr std::size_t kMaxStacks = 1U << 18;

}  // namespace

StackId StackTable::add(const CallStack& stack) {
  const auto& entries = stack.entries();
  std::size_t depth = std::min(entries.size(), kDepth);
  if (depth == 0) return kNoStack;
  std::uint64_t hash = depth;
  for (auto entry = entries.rbegin(); entry != entries.rbegin() + static_cast<long>(depth);
       ++entry) {
    // The finaliser of splitmix64 over all frames.
    hash = (hash ^ entry->return_address) * 0xbf58476d1ce4e5b9U;
    hash ^= hash >> 29U;
  }
  auto known = known_.find(hash);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMaxStacks) return kNoStack;
  Stack frames;
  for (auto entry = entries.rbegin(); entry != entries.rbegin() + static_cast<long>(depth); ++entry)
    frames.frames.emplace_back(entry->return_address);
  StackId id = feed_.add(frames);
  known_.emplace(hash, id);
  return id;
}

}  // namespace svd
