// SPDX-License-Identifier: Apache-2.0
//
// How accesses were made: the site, locks and kind of each, as one number.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detectors/touch.h"

namespace svd {

class Manners {
 public:
  std::uint32_t of(const Touch& access);
  Mark mark(std::uint32_t manner, std::uint64_t moment, std::uint64_t thread) const;

 private:
  struct Known {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint32_t manner = 0;
  };
  std::array<Known, 512> last_{};
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
  std::vector<Mark> marks_;
};

}  // namespace svd
