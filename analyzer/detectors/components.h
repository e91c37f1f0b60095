// SPDX-License-Identifier: Apache-2.0
//
// Of a directed graph whose nodes are numbers: which nodes can reach each other, and short ways
// between these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace svd {

class Components {
 public:
  struct Link {
    std::uint32_t from = 0, to = 0;
  };

  // Links of a node to itself count for nothing.
  Components(std::vector<Link> links, std::size_t nodes);

  // One of the nodes that stands for all that reach each other.
  std::uint32_t of(std::uint32_t node) const { return component_[node]; }
  bool together(std::uint32_t a, std::uint32_t b) const { return component_[a] == component_[b]; }

  // The numbers of the fewest links that lead there; the two are together.
  std::vector<std::uint32_t> way(std::uint32_t from, std::uint32_t to);

 private:
  void visit(std::uint32_t node, std::uint32_t from);

  std::vector<Link> links_;
  std::vector<std::uint32_t>
      begin_;                       // of the links that leave a node, in out_; two more at the end
  std::vector<std::uint32_t> out_;  // numbers of links, by the node that they leave
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> by_;  // of a search: the link that reached a node
  std::vector<std::uint32_t> queue_;
};

}  // namespace svd
