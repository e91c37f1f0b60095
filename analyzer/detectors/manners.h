// SPDX-License-Identifier: Apache-2.0
//
// How accesses were made: the site, locks and kind of each, as one word. There are as many as there
// are instructions and sets of locks that they run under, so that a word in each shadow cell is
// enough. Of one detector, or one history.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "detectors/touch.h"

namespace svd {

class Manners {
 public:
  using Word = std::uint32_t;

  Word of(const Touch& access) {
    std::uint32_t site = access.site.value;
    bool known = site < last_.size() && last_[site].locks == access.locks.value;
    return BriefMark::manner_word(known ? last_[site].number : find(access), access);
  }
  BriefMark brief(const Touch& access) {
    return {access.moment.value, access.thread.value, of(access)};
  }

  SiteId site(const BriefMark& mark) const { return SiteId(made_[mark.manner].site); }
  LockSetId lock_set(const BriefMark& mark) const { return LockSetId(made_[mark.manner].locks); }
  Mark mark(const BriefMark& brief) const {
    return {brief, made_[brief.manner].site, made_[brief.manner].locks};
  }

 private:
  struct Manner {
    std::uint32_t site = 0, locks = 0;
  };
  struct Last {
    std::uint32_t locks = ~std::uint32_t{0};  // no set of locks
    std::uint32_t number = 0;
  };

  std::uint32_t find(const Touch& access);

  std::vector<Last> last_;  // of each site
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Manner> made_;
};

}  // namespace svd
