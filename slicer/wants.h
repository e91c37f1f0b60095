// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk still looks for: definitions of registers and memory, and instances that
// decided. Each want knows the vertex that has it. A register's cell and an instance that decided
// keep the nearest vertex that wants them, a byte of memory all, because each can be another
// thread.
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
  WantId next = 0;  // another vertex that wants the same
  Via via = Via::kValue;
  bool restore = false;  // the value of `reg`, saved there
  Reg reg{};
};

// Weights of the default order: the best of those tried on 22 crashes.
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

  // `want` in front of what is wanted already, unless the same instruction and thread wants it from
  // nearer for the same (what a value's want costs depends on who writes).
  WantId chain(WantId present, Want want) {
    constexpr int kLooked = 3;  // so that what is read in turns by few is wanted once by each
    const Vertex mine = vertices_[want.vertex];
    WantId each = present;
    for (int i = 0; i < kLooked && each != 0; ++i, each = wants_[each].next) {
      const Instance& other = vertices_[wants_[each].vertex].instance;
      bool same = other.id == mine.instance.id && other.thread == mine.instance.thread;
      if (same && wants_[each].via == want.via && wants_[each].restore == want.restore &&
          cost(each) <= mine.distance + weight(want.via))
        return present;
    }
    want.next = present;
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
