// SPDX-License-Identifier: Apache-2.0
//
// Which computational units cannot be put one after the other: the cycles of the graph that
// unit_graph.h makes, when all is known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cu/units.h"
#include "detectors/components.h"
#include "detectors/raw_finding.h"
#include "detectors/unit_graph.h"

namespace svd {

// What is left of the cycles when the graph is gone.
class UnitOrder {
 public:
  // By member, each with a number that those have in common which have to come before each other.
  using Sets = std::vector<std::pair<UnitMember, std::uint32_t>>;
  UnitOrder() = default;
  UnitOrder(Sets sets, bool complete) : sets_(std::move(sets)), complete_(complete) {}

  // Of members of two units: whether each has to come before the other.
  bool together(UnitMember a, UnitMember b) const;
  // Of a violation by these units whether its units can be put one after the other, each time that
  // it happened; none when that is not known.
  std::optional<bool> serializable(const RawFinding& violation) const;

 private:
  Sets sets_;
  bool complete_ = false;  // no arcs are missing
};

class UnitCycles {
 public:
  // Two accesses of different threads, the first before the second, that conflict.
  struct Step {
    Mark first, second;
  };

  // Both must outlive it.
  UnitCycles(const UnitGraph& graph, Units& units);

  UnitOrder order() const;
  // For each set of units that have to come before each other a short cycle; none when all can be
  // put one after the other.
  std::vector<std::vector<Step>> list();

 private:
  static bool is_point(UnitGraph::Node node) { return (node & UnitGraph::kPoint) != 0; }
  std::uint32_t node(UnitGraph::Node node) const {
    return is_point(node) ? points_[node & ~UnitGraph::kPoint] : members_[node];
  }
  bool between_threads(const UnitGraph::Arc& arc) const;
  bool goes_back(const UnitGraph::Arc& arc);
  std::vector<Step> cycle(const UnitGraph::Arc& last);

  const UnitGraph& graph_;
  Units& units_;
  // Which nodes they are in components_; 0 where no cycle can be.
  std::vector<std::uint32_t> members_, points_;
  std::uint32_t count_ = 0;
  std::array<std::vector<std::uint32_t>, 2> arcs_;  // between nodes: the earlier, the later ones
  std::optional<Components> components_;
};

}  // namespace svd
