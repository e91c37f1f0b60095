// SPDX-License-Identifier: Apache-2.0

#include "text_symbols.h"

#include <algorithm>
#include <vector>

#include "svd/trace/nearest.h"
#include "text_lexer.h"

namespace svd::text {
namespace {

bool is_numeric(std::string_view token) {
  return !token.empty() && token[0] >= '0' && token[0] <= '9';
}

// Besides what no name may have: what begins something else where a place is expected, or ends a
// name.
bool is_variable_name(std::string_view name) {
  return is_bare_name(name) && !is_numeric(name) && name[0] != '-' && name[0] != ':' &&
         name.find_first_of("()[]") == std::string_view::npos;
}

}  // namespace

std::uint64_t SymbolNames::automatic_address() const { return (next_ + 15) & ~std::uint64_t{15}; }

void SymbolNames::placed_automatically(const Symbol& symbol) {
  next_ = symbol.address + std::max<std::uint64_t>(symbol.size, 1);
}

bool SymbolNames::can_add(const Symbol& symbol) const {
  return symbol.kind == SymbolKind::kData && is_variable_name(symbol.name) &&
         !by_name_.contains(symbol.name);
}

void SymbolNames::add(const Symbol& symbol) {
  auto at = by_name_.emplace(symbol.name, symbol).first;
  by_address_.emplace(symbol.address, &at->second);
}

const Symbol& SymbolNames::find(std::string_view name) const {
  auto at = by_name_.find(std::string(name));
  if (at != by_name_.end()) return at->second;
  std::vector<std::string_view> candidates;
  for (const auto& [known, symbol] : by_name_) candidates.push_back(known);
  std::sort(candidates.begin(), candidates.end());
  fail("no variable or lock is called '{}'{}", name, did_you_mean(name, candidates));
}

Place SymbolNames::place(std::string_view token) const {
  if (is_numeric(token)) {
    std::size_t colon = token.find(':');
    Place place{Addr(number<std::uint64_t>(token.substr(0, colon), "an address")), std::nullopt};
    if (colon != std::string_view::npos) {
      place.size = number<std::uint64_t>(token.substr(colon + 1), "a size in bytes");
    }
    return place;
  }
  std::size_t bracket = token.find('[');
  const Symbol& symbol = find(token.substr(0, bracket));
  if (bracket == std::string_view::npos) return Place{Addr(symbol.address), symbol.size};
  std::string_view range = token.substr(bracket + 1);
  std::size_t dots = range.find("..");
  if (dots == std::string_view::npos || !range.ends_with(']')) {
    fail("expected {}[FIRST..LAST] instead of '{}'", symbol.name, token);
  }
  auto first = number<std::uint64_t>(range.substr(0, dots), "the first byte");
  auto last =
      number<std::uint64_t>(range.substr(dots + 2, range.size() - dots - 3), "the last byte");
  if (first > last || last >= symbol.size) {
    fail("bytes {}..{} are not inside {}, which has {}", first, last, symbol.name, symbol.size);
  }
  return Place{Addr(symbol.address + first), last - first + 1};
}

std::string SymbolNames::place_text(Addr address, std::uint64_t size, bool size_known) const {
  auto after = by_address_.upper_bound(address.value);
  if (size > 0 && after != by_address_.begin()) {
    const Symbol& symbol = *std::prev(after)->second;
    std::uint64_t offset = address.value - symbol.address;
    if (offset == 0 && size == symbol.size) return symbol.name;
    if (offset < symbol.size && size <= symbol.size - offset) {
      return fmt::format("{}[{}..{}]", symbol.name, offset, offset + size - 1);
    }
  }
  return size_known ? hex(address.value) : fmt::format("{:#x}:{}", address.value, size);
}

Addr SymbolNames::address(std::string_view token) const {
  return is_numeric(token) ? Addr(number<std::uint64_t>(token, "an address"))
                           : Addr(find(token).address);
}

std::string SymbolNames::address_text(Addr address) const {
  auto at = by_address_.find(address.value);
  return at == by_address_.end() ? hex(address.value) : at->second->name;
}

}  // namespace svd::text
