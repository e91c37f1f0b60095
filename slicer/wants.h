// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk still looks for: definitions of registers and memory, and instances that
// decided. Each want knows the vertex that has it. One place can be wanted by several vertices; of
// those with the same instruction and thread the nearest to the criterion is kept, and of different
// ones the latest kMaxChain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "slicer/slice.h"

namespace svd {

// An instance that is in the slice.
struct Vertex {
  Instance instance{};
  float distance = 0;
  std::uint64_t own = 0;  // instructions of its thread from it to the end of the trace
};

using VertexId = std::uint32_t;
using WantId = std::uint32_t;  // 0: none

struct Want {
  VertexId vertex = 0;
  WantId next = 0;          // another vertex that wants the same
  std::uint8_t length = 1;  // of the chain
  Via via = Via::kValue;
  bool restore = false;  // the value of `reg`, saved there
  Reg reg{};
};

// Weights of the default order, in SLICES.md measured on 22 crashes.
constexpr float weight(Via via) {
  switch (via) {
    case Via::kValue:
    case Via::kControl:
      return 1;
    case Via::kAddress:
    case Via::kCall:
    case Via::kSpawn:
      return 2;
    case Via::kSystemCall:
      return 1;
    case Via::kCriterion:
      return 0;
  }
  return 0;
}

class Wants {
 public:
  Wants() : wants_(1), vertices_(1) {}

  VertexId add_vertex(const Vertex& vertex) {
    vertices_.push_back(vertex);
    return static_cast<VertexId>(vertices_.size() - 1);
  }
  const Vertex& vertex(VertexId id) const { return vertices_[id]; }
  const Want& operator[](WantId id) const { return wants_[id]; }
  std::uint64_t vertex_count() const { return vertices_.size() - 1; }

  WantId add(const Want& want) {
    wants_.push_back(want);
    return static_cast<WantId>(wants_.size() - 1);
  }

  float cost(WantId id) const {
    const Want& want = wants_[id];
    return vertices_[want.vertex].distance + weight(want.via);
  }

  // The nearer one of what is wanted already and a new want.
  void merge(WantId& place, WantId added) {
    if (place == 0 || cost(added) < cost(place)) place = added;
  }

  // `want` in front of what is wanted already.
  WantId chain(WantId present, Want want) {
    constexpr std::uint8_t kMaxChain = 4;
    if (present == 0) return add(want);
    const Want& head = wants_[present];
    const Vertex& mine = vertices_[want.vertex];
    const Vertex& other = vertices_[head.vertex];
    if (head.restore == want.restore && other.instance.id == mine.instance.id &&
        other.instance.thread == mine.instance.thread) {
      if (cost(present) <= mine.distance + weight(want.via)) return present;
      want.next = head.next;
      want.length = head.length;
      return add(want);
    }
    if (head.length < kMaxChain) {
      want.next = present;
      want.length = static_cast<std::uint8_t>(head.length + 1);
    }
    return add(want);
  }

  // Memory.
  void want_memory(Addr address, std::uint64_t size, const Want& want) {
    // Each stretch that is wanted alike; what nobody wants has none.
    std::uint64_t at = address.value;
    const std::uint64_t end = at + size;
    WantId fresh = 0;
    auto fill = [&](std::uint64_t to) {
      if (at >= to) return;
      if (fresh == 0) fresh = chain(0, want);
      memory.set(Addr(at), to - at, fresh);
    };
    WantId seen = 0, made = 0;
    memory.visit(address, size, [&](Addr from, unsigned length, WantId present) {
      fill(from.value);
      if (present != seen) made = chain(present, want), seen = present;
      if (made != present) memory.set(from, length, made);
      at = from.value + length;
    });
    fill(end);
  }

  ByteShadow<WantId> memory;

 private:
  std::vector<Want> wants_;
  std::vector<Vertex> vertices_;
};

}  // namespace svd
