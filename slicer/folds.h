// SPDX-License-Identifier: Apache-2.0
//
// Folds the edges between threads that a slice meets by the instructions at their ends, keeping the
// nearest instances.
#pragma once

#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "slicer/slice.h"

namespace svd {

// Which instance of an edge is kept: the one of which this is the smallest.
inline float nearness(const RemoteRead& read) { return read.distance; }

// What nothing orders is nearer than what something does.
template <class Edge>
std::pair<bool, float> nearness(const Edge& edge) {
  return {edge.ordered, edge.key};
}

template <class Edge>
class Fold {
 public:
  void add(std::uint64_t a, std::uint64_t b, const Edge& edge) {
    Key key{a, b};
    auto [entry, fresh] = index_.try_emplace(key, edges_.size());
    if (fresh) {
      edges_.push_back(edge);
      edges_.back().instances = 1;
      return;
    }
    Edge& kept = edges_[entry->second];
    std::uint64_t instances = kept.instances + 1;
    if (nearness(edge) < nearness(kept)) kept = edge;
    kept.instances = instances;
  }

  // Counts an instance that is no nearer than the one that is kept, whether it is ordered or not;
  // false: that is not known yet.
  bool count_farther(std::uint64_t a, std::uint64_t b, float key) {
    auto entry = index_.find(Key{a, b});
    if (entry == index_.end()) return false;
    Edge& kept = edges_[entry->second];
    if (kept.ordered || key < kept.key) return false;
    ++kept.instances;
    return true;
  }

  std::vector<Edge> take() { return std::move(edges_); }

 private:
  struct Key {
    std::uint64_t a, b;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.a * 0x9E3779B97F4A7C15ULL) ^ (key.b * 0xC2B2AE3D27D4EB4FULL);
    }
  };
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::vector<Edge> edges_;
};

}  // namespace svd
