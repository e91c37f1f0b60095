// SPDX-License-Identifier: Apache-2.0
//
// Names in place of addresses in a textual trace. The parser and the printer each keep one table
// and feed it the same declarations in the same order, so that what one writes the other reads
// back.
//
// A place (an address with a size) is spelt
//
//     outcnt        all of a variable
//     buf[3..7]     bytes 3 to 7 of it
//     0x1000:4      bytes without a name; ":4" is left out where the size is known anyway
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "svd/trace/process.h"
#include "svd/trace/types.h"

namespace svd::text {

struct Place {
  Addr address;
  std::optional<std::uint64_t> size;
};

class SymbolNames {
 public:
  // The address that the next variable of `size` bytes gets when its line gives none: 16-byte
  // aligned, after all those before that were placed so.
  std::uint64_t automatic_address() const;
  void placed_automatically(const Symbol& symbol);

  // Whether the symbol can be declared as a variable (or lock: no size), and so be referred to by
  // its name.
  bool can_add(const Symbol& symbol) const;
  void add(const Symbol& symbol);

  Place place(std::string_view token) const;
  std::string place_text(Addr address, std::uint64_t size, bool size_known) const;

  // Of an address alone: the name of what starts there, or 0x….
  Addr address(std::string_view token) const;
  std::string address_text(Addr address) const;

 private:
  const Symbol& find(std::string_view name) const;

  std::uint64_t next_ = 0x100000;  // low, so that hand-written traces show short addresses
  std::unordered_map<std::string, Symbol> by_name_;
  std::map<std::uint64_t, const Symbol*> by_address_;  // the first declared at each address
};

}  // namespace svd::text
