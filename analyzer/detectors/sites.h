// SPDX-License-Identifier: Apache-2.0
//
// The static instructions and statements of a trace, numbered: one number for one address of code,
// in however many blocks it stands.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "svd/trace/reader.h"

namespace svd {

using SiteId = Name<struct SiteTag, std::uint32_t>;

class Sites {
 public:
  explicit Sites(const TraceReader& trace) {
    std::unordered_map<std::uint64_t, SiteId> known;  // a statement's key is its number, negated
    for (const Block& block : trace.blocks()) {
      first_.push_back(ids_.size());
      for (std::size_t i = 0; i < block.size(); ++i) {
        std::uint64_t key = block.abstract() ? ~std::uint64_t{block.statements[i].value}
                                             : block.instructions[i].pc.value;
        auto [entry, added] = known.emplace(key, SiteId(static_cast<std::uint32_t>(known.size())));
        if (added) {
          places_.push_back(block.abstract() ? Place{{}, block.statements[i]}
                                             : Place{block.instructions[i].pc, {}});
        }
        ids_.push_back(entry->second);
      }
    }
  }

  struct Place {
    Pc pc{};  // or a statement
    std::optional<StatementId> statement{};
  };

  SiteId of(BlockId block, std::size_t instruction) const {
    return ids_[first_[block.value] + instruction];
  }
  std::size_t size() const { return places_.size(); }
  const Place& operator[](SiteId id) const { return places_[id.value]; }

 private:
  std::vector<std::size_t> first_;
  std::vector<SiteId> ids_;
  std::vector<Place> places_;
};

}  // namespace svd
