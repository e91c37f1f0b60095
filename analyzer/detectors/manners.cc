// SPDX-License-Identifier: Apache-2.0
#include "detectors/manners.h"

#include "svd/trace/result.h"

namespace svd {

std::uint32_t Manners::find(const Touch& access) {
  std::uint32_t site = access.site.value, locks = access.locks.value;
  auto [entry, added] = numbers_.emplace(std::uint64_t{locks} << 32 | site, made_.size());
  if (added) {
    SVD_CHECK(made_.size() <= BriefMark::kMostManners);
    made_.push_back({site, locks});
  }
  if (last_.size() <= site) last_.resize(site + std::size_t{1});
  last_[site] = {locks, entry->second};
  return entry->second;
}

}  // namespace svd
