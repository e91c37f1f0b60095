// SPDX-License-Identifier: Apache-2.0
#include "dpdg/arc_graph.h"

#include <tuple>

namespace svd {

ArcGraph::ArcGraph(std::vector<Arc> arcs) : arcs_(std::move(arcs)) {
  auto key = [](const Arc& arc) { return std::tuple(arc.use, arc.kind, arc.def); };
  std::stable_sort(arcs_.begin(), arcs_.end(),
                   [key](const Arc& a, const Arc& b) { return key(a) < key(b); });
  arcs_.erase(std::unique(arcs_.begin(), arcs_.end(),
                          [key](const Arc& a, const Arc& b) { return key(a) == key(b); }),
              arcs_.end());
  seqs_.reserve(2 * arcs_.size());
  for (const Arc& arc : arcs_) seqs_.insert(seqs_.end(), {arc.use, arc.def});
  std::sort(seqs_.begin(), seqs_.end());
  seqs_.erase(std::unique(seqs_.begin(), seqs_.end()), seqs_.end());
  first_.resize(seqs_.size() + 1);
  targets_.reserve(arcs_.size());
  for (const Arc& arc : arcs_) {
    targets_.push_back(vertex(arc.def));
    ++first_[vertex(arc.use) + 1];
  }
  for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
}

}  // namespace svd
