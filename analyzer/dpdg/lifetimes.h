// SPDX-License-Identifier: Apache-2.0
//
// When memory becomes new, and when it is given back: allocations, mappings, stacks of threads, and
// pages that the program tells the kernel to forget; and bytes of a file that was cut. An address
// that is used again for something else must not look like sharing.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <variant>

#include "dpdg/channels.h"
#include "svd/trace/event.h"

namespace svd {

struct Range {
  Addr address{};
  std::uint64_t size = 0;
};

// What became new by the event.
inline std::optional<Range> fresh_memory(const Event& event) {
  if (const auto* made = std::get_if<Allocation>(&event.body))
    return Range{made->address, made->size};
  if (const auto* start = std::get_if<ThreadStart>(&event.body))
    return Range{start->stack_low, start->stack_size};
  if (const auto* map = std::get_if<Mapping>(&event.body)) {
    if (map->op == MapOp::kProtect) return std::nullopt;
    return Range{map->address, map->size};
  }
  if (const auto* transfer = std::get_if<Transfer>(&event.body)) {
    if (transfer->address.value != 0) return std::nullopt;
    auto cut = channel_bytes(*transfer);
    return cut ? std::optional(Range{*cut, transfer->size}) : std::nullopt;
  }
  if (const auto* call = std::get_if<SyscallEnter>(&event.body)) {
    constexpr std::uint32_t kMadvise = 28;
    constexpr std::uint64_t kDontNeed = 4, kRemove = 9;
    const auto& [address, size, advice, a3, a4, a5] = call->arguments;
    if (call->number == kMadvise && (advice == kDontNeed || advice == kRemove))
      return Range{Addr(address), size};
  }
  return std::nullopt;
}

class Lifetimes {
 public:
  std::optional<Range> born(const Event& event) {
    if (const auto* made = std::get_if<Allocation>(&event.body)) sizes_[made->address] = made->size;
    return fresh_memory(event);
  }

  // What a Release gives back, where its allocation is known.
  std::optional<Range> given_back(const Event& event) {
    const auto* release = std::get_if<Release>(&event.body);
    if (release == nullptr) return std::nullopt;
    auto known = sizes_.find(release->address);
    if (known == sizes_.end()) return std::nullopt;
    Range range{release->address, known->second};
    sizes_.erase(known);
    return range;
  }

 private:
  std::unordered_map<Addr, std::uint64_t> sizes_;
};

}  // namespace svd
