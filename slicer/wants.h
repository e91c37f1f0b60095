// SPDX-License-Identifier: Apache-2.0
//
// What a reverse walk still looks for: definitions of registers and memory, and instances that
// decided. A register's cell and an instance that decided keep the nearest instance that wants
// them, a byte of memory all, because each can be another thread. What has been found is forgotten:
// memory is for what is wanted at one time, not for the slice.
#pragma once

#include <cstdint>
#include <vector>

#include "dpdg/byte_shadow.h"
#include "slicer/slice.h"

namespace svd {

// An instance of the slice, and what it wants something for.
struct Want {
  Instance by{};
  std::uint64_t own = 0;  // instructions of its thread from it to the end of the trace
  float distance = 0;     // of the instance
  Via via = Via::kValue;
  bool any = false;      // false: nothing is wanted
  bool restore = false;  // the value of `cell`, saved there with its register
  Cell cell = 0;
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

inline float cost(const Want& want) { return want.distance + weight(want.via); }

// The nearer one of what is wanted already and a new want.
inline void merge(Want& place, const Want& added) {
  if (!place.any || cost(added) < cost(place)) place = added;
}

using WantId = std::uint32_t;  // 0: none

class MemoryWants {
 public:
  void want(Addr address, std::uint64_t size, const Want& want) {
    WantId fresh = 0, seen = 0, made = 0;
    bytes_.update(address, size, [&](Addr, unsigned length, WantId& wanted) {
      if (wanted == 0) {
        if (fresh == 0) fresh = chain(0, want);
        wanted = fresh;
      } else {
        if (wanted != seen) seen = wanted, made = chain(wanted, want);
        if (made == wanted) return;
        nodes_[made].references += length;
        release(wanted, length);
        wanted = made;
        return;
      }
      nodes_[fresh].references += length;
    });
  }

  // Calls f(Addr, length, id) for what of these bytes is wanted, and they are wanted no more. f
  // looks at the id with each() and must not want memory.
  template <class F>
  void take(Addr address, std::uint64_t size, F&& f) {
    bytes_.update_present(address, size, [&](Addr at, unsigned length, WantId& wanted) {
      if (wanted == 0) return;
      f(at, length, wanted);
      release(wanted, length);
      wanted = 0;
    });
  }

  // f(const Want&) for all who want the same.
  template <class F>
  void each(WantId id, F&& f) const {
    for (; id != 0; id = nodes_[id].next) f(nodes_[id].want);
  }
  const Want& first(WantId id) const { return nodes_[id].want; }

  template <class F>
  void visit_all(F&& f) const {
    bytes_.visit_all(f);
  }

 private:
  struct Node {
    Want want;
    WantId next = 0;               // another instance that wants the same
    std::uint32_t references = 0;  // bytes and nodes
  };

  // `want` in front of what is wanted already, unless the same instruction and thread wants it from
  // nearer for the same (what a value's want costs depends on who writes).
  WantId chain(WantId present, const Want& want) {
    constexpr int kLooked = 3;  // so that what is read in turns by few is wanted once by each
    WantId each = present;
    for (int i = 0; i < kLooked && each != 0; ++i, each = nodes_[each].next) {
      const Want& other = nodes_[each].want;
      if (other.by.id == want.by.id && other.by.thread == want.by.thread && other.via == want.via &&
          other.restore == want.restore && other.cell == want.cell && cost(other) <= cost(want))
        return present;
    }
    WantId id = free_;
    if (id != 0) {
      free_ = nodes_[id].next;
    } else {
      id = static_cast<WantId>(nodes_.size());
      nodes_.emplace_back();
    }
    nodes_[id] = {want, present, 0};
    if (present != 0) ++nodes_[present].references;
    return id;
  }

  void release(WantId id, std::uint32_t references) {
    while (id != 0) {
      Node& node = nodes_[id];
      node.references -= references;
      if (node.references != 0) return;
      WantId next = node.next;
      node.next = free_;
      free_ = id;
      id = next;
      references = 1;
    }
  }

  ByteShadow<WantId> bytes_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  WantId free_ = 0;
};

}  // namespace svd
