// SPDX-License-Identifier: Apache-2.0
//
// Folds the edges between threads that a slice meets by the instructions at their ends, keeping the
// nearest instances.
#pragma once

#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "slicer/slice.h"

namespace svd {

template <class Edge>
class Fold {
 public:
  // `nearness`: smaller is kept.
  void add(std::uint64_t a, std::uint64_t b, const Edge& edge, float nearness) {
    Key key{a, b};
    auto [entry, fresh] = index_.try_emplace(key, edges_.size());
    if (fresh) {
      edges_.push_back({edge, nearness});
      edges_.back().edge.instances = 1;
      return;
    }
    Kept& kept = edges_[entry->second];
    std::uint64_t instances = kept.edge.instances + 1;
    if (nearness < kept.nearness) kept = {edge, nearness};
    kept.edge.instances = instances;
  }

  std::vector<Edge> take() {
    std::vector<Edge> all;
    all.reserve(edges_.size());
    for (const Kept& kept : edges_) all.push_back(kept.edge);
    return all;
  }

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
  struct Kept {
    Edge edge;
    float nearness;
  };
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::vector<Kept> edges_;
};

}  // namespace svd
