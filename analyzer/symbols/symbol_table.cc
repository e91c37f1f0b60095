// SPDX-License-Identifier: Apache-2.0

#include "symbols/symbol_table.h"

#include <algorithm>
#include <tuple>

namespace svd {
namespace {

std::uint64_t extent(const Symbol& symbol) { return std::max<std::uint64_t>(symbol.size, 1); }

}  // namespace

void SymbolTable::finish() {
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol* a, const Symbol* b) {
    return std::tuple(a->address, b->size) < std::tuple(b->address, a->size);
  });
  std::uint64_t reach = 0;
  for (const Symbol* symbol : symbols_)
    reach_.push_back(reach = std::max(reach, symbol->address + extent(*symbol)));
}

const Symbol* SymbolTable::find(std::uint64_t address) const {
  auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t a, const Symbol* symbol) { return a < symbol->address; });
  for (auto i = static_cast<std::size_t>(after - symbols_.begin());
       i-- > 0 && reach_[i] > address;) {
    if (address - symbols_[i]->address < extent(*symbols_[i])) return symbols_[i];
  }
  return nullptr;
}

}  // namespace svd
