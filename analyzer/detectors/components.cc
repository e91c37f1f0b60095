// SPDX-License-Identifier: Apache-2.0
//
// Tarjan's algorithm without recursion; breadth-first search for ways. Cost: linear in nodes and
// arcs; 20 bytes a node and 12 an arc.

#include "detectors/components.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace svd {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Tarjan {
 public:
  Tarjan(const std::vector<Components::Link>& links, const std::vector<std::uint32_t>& begin,
         const std::vector<std::uint32_t>& out)
      : links_(links),
        begin_(begin),
        out_(out),
        number_(begin.size() - 2, kNone),
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
        std::uint32_t to = links_[out_[frame.next++]].to;
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

  const std::vector<Components::Link>& links_;
  const std::vector<std::uint32_t>& begin_;
  const std::vector<std::uint32_t>& out_;
  std::vector<std::uint32_t> number_, low_, component_, open_;
  std::vector<Frame> frames_;
  std::uint32_t next_ = 0;
};

}  // namespace

Components::Components(std::vector<Link> links, std::size_t nodes)
    : links_(std::move(links)), begin_(nodes + 2), out_(links_.size()), by_(nodes, kNone) {
  for (const Link& link : links_) ++begin_[link.from + 2];
  for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  for (std::size_t i = 0; i < links_.size(); ++i)
    out_[begin_[links_[i].from + 1]++] = static_cast<std::uint32_t>(i);
  component_ = Tarjan(links_, begin_, out_).run();
}

std::vector<std::uint32_t> Components::way(std::uint32_t from, std::uint32_t to) {
  queue_.assign(1, from);
  for (std::size_t i = 0; by_[to] == kNone; ++i) visit(queue_[i], from);
  std::vector<std::uint32_t> way;
  for (std::uint32_t at = to; at != from; at = links_[way.back()].from) way.push_back(by_[at]);
  std::reverse(way.begin(), way.end());
  // What a search has touched is cleared after it, so that many small components cost no more than
  // one large one.
  for (std::uint32_t node : queue_) by_[node] = kNone;
  return way;
}

void Components::visit(std::uint32_t node, std::uint32_t from) {
  for (std::uint32_t i = begin_[node]; i < begin_[node + 1]; ++i) {
    std::uint32_t next = links_[out_[i]].to;
    if (component_[next] != component_[from] || by_[next] != kNone || next == from) continue;
    by_[next] = out_[i];
    queue_.push_back(next);
  }
}

}  // namespace svd
