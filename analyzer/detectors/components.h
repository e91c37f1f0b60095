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
  // `links(f)` calls f(from, to, number) for each link, twice in the same order. Links of a node to
  // itself count for nothing.
  template <class Links>
  Components(std::size_t nodes, Links&& links) : begin_(nodes + 2) {
    links([this](std::uint32_t from, std::uint32_t, std::uint32_t) { ++begin_[from + 2]; });
    for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    out_.resize(begin_.back());
    links([this](std::uint32_t from, std::uint32_t to, std::uint32_t number) {
      out_[begin_[from + 1]++] = {to, number};
    });
    find();
  }

  // One of the nodes that stands for all that reach each other.
  std::uint32_t of(std::uint32_t node) const { return component_[node]; }
  bool together(std::uint32_t a, std::uint32_t b) const { return component_[a] == component_[b]; }

  // The numbers of the fewest links that lead there; the two are together.
  std::vector<std::uint32_t> way(std::uint32_t from, std::uint32_t to);

 private:
  class Tarjan;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Out {
    std::uint32_t to = 0, number = 0;
  };
  struct By {
    std::uint32_t from = kNone, number = 0;
  };

  void find();
  void visit(std::uint32_t node, std::uint32_t from);

  std::vector<std::uint32_t>
      begin_;             // of the links that leave a node, in out_; two more at the end
  std::vector<Out> out_;  // by the node that they leave
  std::vector<std::uint32_t> component_;
  std::vector<By> by_;  // of a search: the link that reached a node; empty before the first one
  std::vector<std::uint32_t> queue_;
};

}  // namespace svd
