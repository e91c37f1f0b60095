// SPDX-License-Identifier: Apache-2.0
#include "slicer/nearness.h"

#include <algorithm>

namespace svd {
namespace {

std::tuple<std::uint64_t, std::string, std::uint32_t, std::string> site_of(Pc pc,
                                                                           const auto& place) {
  if (pc.value != 0) return {pc.value, "", 0, ""};
  return {0, place.file, place.line, place.label};
}

template <class Map>
void add(Map& map, const typename Map::key_type& key, float value) {
  float& kept = map.try_emplace(key, value).first->second;
  kept = std::min(kept, value);
}

template <class Map>
std::optional<float> look_up(const Map& map, const typename Map::key_type& key) {
  auto found = map.find(key);
  return found == map.end() ? std::optional<float>() : found->second;
}

void take_nearer(std::optional<float>& into, std::optional<float> other) {
  if (other && (!into || *other < *into)) into = other;
}

bool conflict(const FindingAccess& a, const FindingAccess& b) {
  return a.address < b.address + b.size && b.address < a.address + a.size &&
         (a.kind != TouchKind::kRead || b.kind != TouchKind::kRead);
}

}  // namespace

Nearness::Nearness(const Slice& slice, const StoryInput& input) {
  auto site = [&](const auto& of) {
    return site_of(input.code.pc_of(of.id), place_of(input, of.id));
  };
  for (const SliceItem& item : slice.items) add(items_, site(item), item.distance);
  for (const RemoteRead& read : slice.remote_reads)
    add(pairs_, {site(read.write), site(read.read)}, read.distance - 1);
  for (const RaceEdge& race : slice.races)
    if (!race.ordered) add(pairs_, {site(race.first), site(race.second)}, race.key);
  for (const Triple& triple : slice.triples)
    if (!triple.ordered)
      add(triples_, {site(triple.before), site(triple.remote), site(triple.after)}, triple.key);
}

std::optional<float> Nearness::edge(const FindingAccess& first, const FindingAccess& second) const {
  return look_up(pairs_, {site_of(first.site, first.place), site_of(second.site, second.place)});
}

std::optional<float> Nearness::triple(const Finding& finding) const {
  const std::vector<FindingAccess>& all = finding.accesses;
  if (all.size() != 3) return {};
  auto site = [&](std::size_t i) { return site_of(all[i].site, all[i].place); };
  return look_up(triples_, {site(0), site(1), site(2)});
}

std::optional<float> Nearness::of(const Finding& finding) const {
  std::optional<float> nearest = triple(finding);
  for (const FindingAccess& a : finding.accesses)
    for (const FindingAccess& b : finding.accesses)
      if (a.thread != b.thread) take_nearer(nearest, edge(a, b));
  return nearest;
}

std::optional<float> Nearness::whole(const Finding& finding) const {
  if (std::optional<float> found = triple(finding); found || finding.accesses.size() != 3)
    return found;
  const FindingAccess& first = finding.accesses[0];
  const FindingAccess& remote = finding.accesses[1];
  const FindingAccess& second = finding.accesses[2];
  std::optional<float> before = edge(first, remote);
  if (!conflict(remote, second)) {
    bool used = items_.count(site_of(second.site, second.place)) != 0;
    return used ? before : std::optional<float>();
  }
  std::optional<float> after = edge(remote, second);
  if (second.kind == TouchKind::kRead || !before || !after) return {};
  return std::max(*before, *after);
}

}  // namespace svd
