// SPDX-License-Identifier: Apache-2.0
#include "detectors/manners.h"

namespace svd {

std::uint32_t Manners::of(const Touch& access) {
  Mark mark(access);
  mark.moment = 0;
  mark.thread = 0;
  std::uint64_t key = (std::uint64_t{mark.locks} << 3 | std::uint64_t{mark.kind} << 1 | mark.atomic)
                          << 32 |
                      mark.site;
  Known& last = last_[(mark.site * 31 + mark.locks) % last_.size()];
  if (last.key == key) return last.manner;
  auto [known, added] = known_.emplace(key, static_cast<std::uint32_t>(marks_.size()));
  if (added) marks_.push_back(mark);
  last = {key, known->second};
  return last.manner;
}

Mark Manners::mark(std::uint32_t manner, std::uint64_t moment, std::uint64_t thread) const {
  Mark mark = marks_[manner];
  mark.moment = moment & ((std::uint64_t{1} << Mark::kMomentBits) - 1);
  mark.thread = thread & 0xffffU;
  return mark;
}

}  // namespace svd
