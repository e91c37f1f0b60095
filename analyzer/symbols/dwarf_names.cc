// SPDX-License-Identifier: Apache-2.0

#include "symbols/dwarf_names.h"

#include <dwarf.h>

#include <algorithm>

namespace svd {
namespace {

// Entries refer to each other, and nothing says that they do not do so in a circle.
constexpr int kMaxOrigins = 16;
constexpr int kMaxDepth = 256;

constexpr std::string_view kUnnamed = "(anonymous)";

bool is_c(Dwarf_Die entry) {
  Dwarf_Die unit;
  if (dwarf_diecu(&entry, &unit, nullptr, nullptr) == nullptr) return false;
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
      return true;
    default:
      return false;
  }
}

std::string own_name(Dwarf_Die entry) {
  if (const char* name = dwarf_diename(&entry)) return name;
  switch (dwarf_tag(&entry)) {
    case DW_TAG_namespace:
      return "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return "(anonymous)";
    default:
      return "";
  }
}

}  // namespace

Dwarf_Die origin_of(Dwarf_Die entry) {
  for (int i = 0; i < kMaxOrigins; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(&entry, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&entry, DW_AT_specification, &attribute) == nullptr) {
      break;
    }
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    entry = next;
  }
  return entry;
}

void DwarfNames::Unit::read(Dwarf_Die entry, int depth) {
  Dwarf_Die child;
  if (depth > kMaxDepth || dwarf_child(&entry, &child) != 0) return;
  constexpr auto kNotYet = ~std::uint32_t{0};
  std::uint32_t parent = kNotYet;
  do {
    bool scope = true;
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable:
      case DW_TAG_member:
        scope = false;
        break;
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_inlined_subroutine:
      case DW_TAG_subprogram:
      case DW_TAG_namespace:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        break;
      default:
        continue;
    }
    if (depth > 0) {  // at the top there is nothing to be in
      if (parent == kNotYet) {
        parent = static_cast<std::uint32_t>(parents.size());
        parents.push_back(entry);
      }
      inside.push_back({reinterpret_cast<std::uintptr_t>(child.addr), parent});
    }
    if (scope) read(child, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

const Dwarf_Die* DwarfNames::parent_of(const Dwarf_Die& entry) {
  auto [at, is_new] = units_.try_emplace(entry.cu);
  Unit& unit = at->second;
  if (is_new) {
    Dwarf_Die copy = entry;
    Dwarf_Die top;
    if (dwarf_diecu(&copy, &top, nullptr, nullptr) != nullptr) unit.read(top, 0);
    auto before = [](const Unit::Inside& a, const Unit::Inside& b) { return a.entry < b.entry; };
    std::sort(unit.inside.begin(), unit.inside.end(), before);
  }
  auto address = reinterpret_cast<std::uintptr_t>(entry.addr);
  auto found = std::lower_bound(
      unit.inside.begin(), unit.inside.end(), address,
      [](const Unit::Inside& inside, std::uintptr_t wanted) { return inside.entry < wanted; });
  if (found == unit.inside.end() || found->entry != address) return nullptr;
  return &unit.parents[found->parent];
}

std::string_view DwarfNames::name_of(const Dwarf_Die& entry, int depth) {
  if (auto known = names_.find(entry.addr); known != names_.end()) return known->second;
  Dwarf_Die origin = origin_of(entry);
  std::string name = own_name(origin);
  switch (dwarf_tag(&origin)) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      break;  // its parent's name is what counts
    case DW_TAG_subprogram:
      if (is_c(origin)) depth = kMaxDepth;  // in nothing
      [[fallthrough]];
    default:
      if (name.empty()) return names_[entry.addr];
  }
  if (const Dwarf_Die* parent = depth < kMaxDepth ? parent_of(origin) : nullptr) {
    Dwarf_Die scope = *parent;
    std::string outer(name_of(scope, depth + 1));
    // The class of a lambda has no name, and one member.
    if (name == "operator()" && dwarf_diename(&scope) == nullptr && outer.ends_with(kUnnamed)) {
      outer.resize(outer.size() - kUnnamed.size());
      name = outer + "{lambda}";
    } else if (!outer.empty()) {
      name = name.empty() ? outer : outer + "::" + name;
    }
  }
  return names_[entry.addr] = std::move(name);
}

}  // namespace svd
