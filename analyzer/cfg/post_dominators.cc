// SPDX-License-Identifier: Apache-2.0
//
// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reverse graph.
// Quadratic at worst and faster than Lengauer and Tarjan's on the graphs of functions, as
// bench_cfg measures.

#include "cfg/post_dominators.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace svd {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The edges turned around; the exit included.
BlockGraph reverse(const BlockGraph& graph) {
  BlockGraph result;
  std::uint32_t count = graph.size() + 1;
  result.first.assign(count + 1, 0);
  result.successors.resize(graph.successors.size());
  for (std::uint32_t to : graph.successors) ++result.first[to + 1];
  for (std::uint32_t v = 0; v < count; ++v) result.first[v + 1] += result.first[v];
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (std::uint32_t v = 0; v < graph.size(); ++v)
    for (std::uint32_t to : graph.of(v)) result.successors[next[to]++] = v;
  return result;
}

// Vertices in the order in which a depth-first search from `root` leaves them.
std::vector<std::uint32_t> postorder(const BlockGraph& graph, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(graph.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;  // vertex, next edge
  order.reserve(graph.size());
  seen[root] = true;
  path.emplace_back(root, graph.first[root]);
  while (!path.empty()) {
    auto& [vertex, edge] = path.back();
    if (edge == graph.first[vertex + 1]) {
      order.push_back(vertex);
      path.pop_back();
      continue;
    }
    std::uint32_t to = graph.successors[edge++];
    if (seen[to]) continue;
    seen[to] = true;
    path.emplace_back(to, graph.first[to]);
  }
  return order;
}

// Tarjan's strongly connected components; calls found(entered, left) for each: the vertex where it
// was entered, and whether an edge leaves it.
class Components {
 public:
  explicit Components(const BlockGraph& graph)
      : graph_(graph), index_(graph.size(), kNone), low_(graph.size()), leaves_(graph.size()) {}

  template <class F>
  void each(F&& found) {
    for (std::uint32_t v = 0; v < graph_.size(); ++v)
      if (index_[v] == kNone) search(v, found);
  }

 private:
  static constexpr std::uint32_t kClosed = kNone - 1;

  void open(std::uint32_t v) {
    index_[v] = low_[v] = count_++;
    stack_.push_back(v);
    path_.emplace_back(v, graph_.first[v]);
  }

  template <class F>
  void search(std::uint32_t root, F&& found) {
    open(root);
    while (!path_.empty()) {
      auto& [v, edge] = path_.back();
      if (edge < graph_.first[v + 1]) {
        std::uint32_t to = graph_.successors[edge++];
        if (to == graph_.exit() || index_[to] == kClosed) {
          leaves_[v] = true;
        } else if (index_[to] == kNone) {
          open(to);
        } else {
          low_[v] = std::min(low_[v], index_[to]);
        }
        continue;
      }
      std::uint32_t done = v;
      path_.pop_back();
      bool closed = low_[done] == index_[done];
      if (closed) close(done, found);
      if (path_.empty()) continue;
      std::uint32_t parent = path_.back().first;
      if (closed) {
        leaves_[parent] = true;
      } else {
        low_[parent] = std::min(low_[parent], low_[done]);
        if (leaves_[done]) leaves_[parent] = true;
      }
    }
  }

  template <class F>
  void close(std::uint32_t root, F&& found) {
    bool leaves = false;
    for (std::uint32_t v = kNone; v != root;) {
      v = stack_.back();
      stack_.pop_back();
      leaves = leaves || leaves_[v];
      index_[v] = kClosed;
    }
    found(root, leaves);
  }

  const BlockGraph& graph_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> leaves_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::vector<std::uint32_t> tie_endless(BlockGraph& graph) {
  std::vector<std::uint32_t> heads;
  if (postorder(reverse(graph), graph.exit()).size() == graph.size() + 1) return heads;
  Components(graph).each([&](std::uint32_t entered, bool left) {
    if (!left) heads.push_back(entered);
  });
  std::uint32_t before = graph.size();
  std::uint32_t exit = before + static_cast<std::uint32_t>(heads.size());
  for (std::uint32_t& to : graph.successors) {
    auto head = std::find(heads.begin(), heads.end(), to);
    if (to == before) to = exit;
    if (head != heads.end()) to = before + static_cast<std::uint32_t>(head - heads.begin());
  }
  for (std::uint32_t head : heads) {
    graph.successors.insert(graph.successors.end(), {head, exit});
    graph.close();
  }
  return heads;
}

std::vector<std::uint32_t> post_dominators(const BlockGraph& graph) {
  std::vector<std::uint32_t> order = postorder(reverse(graph), graph.exit());
  std::vector<std::uint32_t> rank(graph.size() + 1);
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::vector<std::uint32_t> dominator(graph.size() + 1, kNone);
  dominator[graph.exit()] = graph.exit();
  auto common = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (rank[a] < rank[b]) a = dominator[a];
      while (rank[b] < rank[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {
      std::uint32_t vertex = order[i];
      std::uint32_t best = kNone;
      for (std::uint32_t to : graph.of(vertex)) {
        if (dominator[to] == kNone) continue;
        best = best == kNone ? to : common(to, best);
      }
      if (dominator[vertex] != best) dominator[vertex] = best, changed = true;
    }
  }
  dominator.pop_back();
  return dominator;
}

}  // namespace svd
