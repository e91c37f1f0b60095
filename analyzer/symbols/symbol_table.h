// SPDX-License-Identifier: Apache-2.0
//
// Symbols of one kind by address; of those at one address the larger first; of those that are alike
// the one that was added last is found. They are not copied and must outlive the table.
#pragma once

#include <cstdint>
#include <vector>

#include "svd/trace/process.h"

namespace svd {

class SymbolTable {
 public:
  void add(const Symbol& symbol) { symbols_.push_back(&symbol); }
  void finish();  // after the last one was added
  // The innermost symbol that covers the address; null when there is none. One without a size, such
  // as a lock, names its address.
  const Symbol* find(std::uint64_t address) const;
  const std::vector<const Symbol*>& symbols() const { return symbols_; }

 private:
  std::vector<const Symbol*> symbols_;
  // The highest end among the symbols up to this one: ends a search backward early, so that nested
  // symbols cost little and uncovered addresses nothing.
  std::vector<std::uint64_t> reach_;
};

}  // namespace svd
