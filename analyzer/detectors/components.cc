// SPDX-License-Identifier: Apache-2.0
//
// Tarjan's algorithm without recursion; breadth-first search for ways. Cost: linear in nodes and
// arcs; 28 bytes a node and 8 an arc.

#include "detectors/components.h"

#include <algorithm>
#include <utility>

namespace svd {

class Components::Tarjan {
 public:
  explicit Tarjan(const Components& graph)
      : begin_(graph.begin_),
        out_(graph.out_),
        number_(begin_.size() - 2, kNone),
        low_(number_.size()),
        component_(number_.size(), kNone) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t node = 0; node < number_.size(); ++node) {
      if (number_[node] == kNone) visit(node);
    }
    return std::move(component_);
  }

 private:
  struct Frame {
    std::uint32_t node, next;
  };

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      std::uint32_t node = frame.node;
      if (frame.next < begin_[node + 1]) {
        std::uint32_t to = out_[frame.next++].to;
        if (number_[to] == kNone) {
          enter(to);
        } else if (component_[to] == kNone) {
          low_[node] = std::min(low_[node], number_[to]);
        }
      } else {
        leave(node);
      }
    }
  }

  void enter(std::uint32_t node) {
    number_[node] = low_[node] = next_++;
    open_.push_back(node);
    frames_.push_back({node, begin_[node]});
  }

  void leave(std::uint32_t node) {
    frames_.pop_back();
    if (!frames_.empty()) {
      std::uint32_t& low = low_[frames_.back().node];
      low = std::min(low, low_[node]);
    }
    if (low_[node] != number_[node]) return;
    std::uint32_t member = kNone;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = node;
    } while (member != node);
  }

  const std::vector<std::uint32_t>& begin_;
  const std::vector<Out>& out_;
  std::vector<std::uint32_t> number_, low_, component_, open_;
  std::vector<Frame> frames_;
  std::uint32_t next_ = 0;
};

void Components::find() { component_ = Tarjan(*this).run(); }

std::vector<std::uint32_t> Components::way(std::uint32_t from, std::uint32_t to) {
  if (by_.empty()) by_.resize(component_.size());
  queue_.assign(1, from);
  for (std::size_t i = 0; by_[to].from == kNone; ++i) visit(queue_[i], from);
  std::vector<std::uint32_t> way;
  for (std::uint32_t at = to; at != from; at = by_[at].from) way.push_back(by_[at].number);
  std::reverse(way.begin(), way.end());
  // What a search has touched is cleared after it, so that many small components cost no more than
  // one large one.
  for (std::uint32_t node : queue_) by_[node] = By();
  return way;
}

void Components::visit(std::uint32_t node, std::uint32_t from) {
  for (std::uint32_t i = begin_[node]; i < begin_[node + 1]; ++i) {
    std::uint32_t next = out_[i].to;
    if (component_[next] != component_[from] || by_[next].from != kNone || next == from) continue;
    by_[next] = {node, out_[i].number};
    queue_.push_back(next);
  }
}

}  // namespace svd
