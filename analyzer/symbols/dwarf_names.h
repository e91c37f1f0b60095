// SPDX-License-Identifier: Apache-2.0
//
// Full names of functions, variables and types of DWARF: with the namespaces, classes and functions
// that they are in, "app::Log::append". DWARF has no way from an entry to what it is in, so the
// tree of a compilation unit is walked once, when the first name from it is asked for.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace svd {

// The entry that says what this one only repeats: the abstract function of an inlined copy, the
// declaration in a class of what is defined outside.
Dwarf_Die origin_of(Dwarf_Die entry);

class DwarfNames {
 public:
  // "" when it has none. The view lives as long as this object.
  std::string_view name_of(const Dwarf_Die& entry) { return name_of(entry, 0); }

 private:
  // What each function, variable, class and namespace of a unit is in, by address of its entry.
  struct Unit {
    struct Inside {
      std::uintptr_t entry;
      std::uint32_t parent;  // in `parents`
    };
    std::vector<Inside> inside;
    std::vector<Dwarf_Die> parents;
    void read(Dwarf_Die entry, int depth);
  };

  std::string_view name_of(const Dwarf_Die& entry, int depth);
  const Dwarf_Die* parent_of(const Dwarf_Die& entry);

  std::unordered_map<Dwarf_CU*, Unit> units_;
  std::unordered_map<const void*, std::string> names_;
};

}  // namespace svd
