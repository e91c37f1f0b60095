// SPDX-License-Identifier: Apache-2.0
//
// How near to a failure findings lie, in the measure of the story (story.cc): by the edges of the
// slice that they are. Because the slice folds its edges, places in the code are compared: some
// instance of what was found led to the failure, not always the one that is told.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "findings/finding.h"
#include "slicer/story.h"

namespace svd {

class Nearness {
 public:
  Nearness(const Slice& slice, const StoryInput& input);

  // Two accesses of the finding, of different threads, are an edge of the slice: the nearest.
  std::optional<float> of(const Finding& finding) const;

  // The finding as a whole led to the failure. What the remote access wrote was read, and the slice
  // has just these three accesses as a triple; or it was written over, and both edges are of the
  // slice; or what the local thread had read before it led to the failure, by the second access.
  std::optional<float> whole(const Finding& finding) const;

 private:
  using Site = std::tuple<std::uint64_t, std::string, std::uint32_t, std::string>;
  template <std::size_t n>
  using Edges = std::map<std::array<Site, n>, float>;

  std::optional<float> edge(const FindingAccess& first, const FindingAccess& second) const;
  std::optional<float> triple(const Finding& finding) const;

  std::map<Site, float> items_;
  Edges<2> pairs_;
  Edges<3> triples_;
};

}  // namespace svd
