// SPDX-License-Identifier: Apache-2.0

#include "symbols/member_path.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

namespace svd {
namespace {

constexpr int kMaxDepth = 64;

std::optional<std::uint64_t> number(Dwarf_Die entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(&entry, name, &attribute), &value) != 0) return std::nullopt;
  return value;
}

// Lengths of an array by dimension; empty when one is not known.
std::vector<std::uint64_t> dimensions_of(Dwarf_Die array) {
  std::vector<std::uint64_t> lengths;
  Dwarf_Die child;
  if (dwarf_child(&array, &child) != 0) return lengths;
  do {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    auto count = number(child, DW_AT_count);
    auto last = number(child, DW_AT_upper_bound);
    if (!count && !last) return {};
    lengths.push_back(count ? *count : *last + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
  return lengths;
}

// Arrays of arrays can go on for ever in a damaged file.
std::uint64_t bounded_size(Dwarf_Die type, int depth) {
  Dwarf_Word size = 0;
  if (dwarf_tag(&type) != DW_TAG_array_type)
    return dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
  std::vector<std::uint64_t> lengths = dimensions_of(type);
  std::optional<Dwarf_Die> element = type_of(type);
  if (!element || lengths.empty() || depth > kMaxDepth) return 0;
  size = bounded_size(*element, depth + 1);
  for (std::uint64_t length : lengths) size *= length;
  return size;
}

std::string_view name_of(Dwarf_Die entry) {
  const char* name = dwarf_diename(&entry);
  return name == nullptr ? std::string_view() : name;
}

// A member or base class of a type: which bytes of it.
struct Part {
  Dwarf_Die entry;
  std::uint64_t offset;
  std::uint64_t size;
  bool base;
  bool bits;

  bool overlaps(std::uint64_t at, std::uint64_t bytes) const {
    return offset < at + bytes && at < offset + size;
  }
};

// In the order of the source. Bases without members take no room, though they have a size.
std::vector<Part> parts_of(Dwarf_Die type, int depth = 0) {
  std::vector<Part> parts;
  bool is_union = dwarf_tag(&type) == DW_TAG_union_type;
  Dwarf_Die child;
  if (depth > kMaxDepth || dwarf_child(&type, &child) != 0) return parts;
  do {
    int tag = dwarf_tag(&child);
    bool base = tag == DW_TAG_inheritance;
    if ((tag != DW_TAG_member && !base) || dwarf_hasattr(&child, DW_AT_declaration) ||
        dwarf_hasattr(&child, DW_AT_external)) {
      continue;  // static members are variables of their own
    }
    std::optional<Dwarf_Die> member = type_of(child);
    std::uint64_t size = member ? size_of(*member) : 0;
    auto offset = number(child, DW_AT_data_member_location);
    if (auto bits = number(child, DW_AT_bit_size)) {
      auto first = number(child, DW_AT_data_bit_offset);
      // Up to DWARF 4 counted within a storage unit, from its most significant bit.
      if (auto from_top = number(child, DW_AT_bit_offset); !first && from_top && offset)
        first = (*offset + number(child, DW_AT_byte_size).value_or(size)) * 8 - *from_top - *bits;
      if (first) parts.push_back({child, *first / 8, (*first % 8 + *bits + 7) / 8, false, true});
      continue;
    }
    if (is_union) offset = 0;
    if (!offset || size == 0) continue;  // the place of a virtual base varies
    if (base && parts_of(*member, depth + 1).empty()) continue;
    parts.push_back({child, *offset, size, base, false});
  } while (dwarf_siblingof(&child, &child) == 0);
  return parts;
}

// The member that is meant, when it is just one. In a union, where all are touched, it is the first
// that has just this size, else the first that is large enough; else, where the end of a base class
// is used for the next member, the later one.
const Part* choose(const std::vector<Part>& parts, bool is_union, std::uint64_t offset,
                   std::uint64_t size) {
  const Part* chosen = nullptr;
  for (const Part& part : parts) {
    if (!part.overlaps(offset, size)) continue;
    if (is_union) {
      if (offset + size > part.offset + part.size) continue;
      if (part.size == size) return &part;
      if (chosen == nullptr) chosen = &part;
      continue;
    }
    if (chosen != nullptr && (part.offset > offset || (part.bits && chosen->bits))) return nullptr;
    chosen = &part;
  }
  return chosen;
}

bool is_of_library(std::string_view name) { return name.starts_with("_M_"); }
bool is_reserved(std::string_view name) { return name.starts_with("__"); }

}  // namespace

std::optional<Dwarf_Die> type_of(Dwarf_Die entry) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  Dwarf_Die peeled;
  if (dwarf_formref_die(dwarf_attr_integrate(&entry, DW_AT_type, &attribute), &type) == nullptr ||
      dwarf_peel_type(&type, &peeled) != 0) {
    return std::nullopt;
  }
  // What was moved into a unit of its own leaves a declaration behind.
  if (dwarf_formref_die(dwarf_attr(&peeled, DW_AT_signature, &attribute), &type) != nullptr)
    return type;
  return peeled;
}

std::uint64_t size_of(Dwarf_Die type) { return bounded_size(type, 0); }

MemberPath member_path(Dwarf_Die whole, std::uint64_t offset, std::uint64_t size) {
  std::string path;
  std::optional<Dwarf_Die> type = whole;
  size = std::max<std::uint64_t>(size, 1);
  for (int depth = 0; type && depth < kMaxDepth; ++depth) {
    int tag = dwarf_tag(&*type);
    if (tag == DW_TAG_array_type) {
      std::vector<std::uint64_t> lengths = dimensions_of(*type);
      std::optional<Dwarf_Die> element = type_of(*type);
      std::uint64_t stride = element ? size_of(*element) : 0;
      if (lengths.empty() || stride == 0) break;
      for (std::size_t i = 1; i < lengths.size(); ++i) stride *= lengths[i];
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (stride == 0 || offset % stride + size > stride) return {path, type};
        path += fmt::format("[{}]", offset / stride);
        offset %= stride;
        if (i + 1 < lengths.size()) stride /= std::max<std::uint64_t>(lengths[i + 1], 1);
      }
      type = element;
      continue;
    }
    if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type) break;
    std::vector<Part> parts = parts_of(*type);
    const Part* part = choose(parts, tag == DW_TAG_union_type, offset, size);
    if (part == nullptr) break;
    std::string_view name = name_of(part->entry);
    if (!part->base && is_reserved(name)) break;
    if (!part->base && !name.empty() && !is_of_library(name)) path += fmt::format(".{}", name);
    offset -= std::min(offset, part->offset);
    type = type_of(part->entry);
  }
  return {path, type};
}

namespace {

// A member by its name, also of base classes and of members without names.
std::optional<Part> find_part(Dwarf_Die type, std::string_view name, int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  for (const Part& part : parts_of(type)) {
    std::string_view own = name_of(part.entry);
    if (!part.base && !own.empty() && !is_of_library(own)) {
      if (own == name) return part;
      continue;
    }
    auto inner_type = type_of(part.entry);
    auto inner = inner_type ? find_part(*inner_type, name, depth + 1) : std::nullopt;
    if (!inner) continue;
    inner->offset += part.offset;
    return inner;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Member> find_member(Dwarf_Die whole, std::string_view path) {
  std::optional<Dwarf_Die> type = whole;
  Member found;
  while (!path.empty()) {
    if (!type) return std::nullopt;
    if (path.front() == '.') {
      path.remove_prefix(1);
      std::string_view name = path.substr(0, path.find_first_of(".["));
      path.remove_prefix(name.size());
      auto part = find_part(*type, name, 0);
      if (!part) return std::nullopt;
      found = {found.offset + part->offset, part->size};
      type = type_of(part->entry);
      continue;
    }
    if (path.front() != '[' || dwarf_tag(&*type) != DW_TAG_array_type) return std::nullopt;
    std::vector<std::uint64_t> lengths = dimensions_of(*type);
    type = type_of(*type);
    std::uint64_t stride = type ? size_of(*type) : 0;
    for (std::uint64_t length : lengths) stride *= length;
    for (std::uint64_t length : lengths) {
      if (path.empty()) break;  // a row of a matrix
      if (path.front() != '[') return std::nullopt;
      std::uint64_t index = 0;
      const char* end = path.data() + path.size();
      auto [at, error] = std::from_chars(path.data() + 1, end, index);
      if (error != std::errc() || at == end || *at != ']' || index >= length) return std::nullopt;
      path.remove_prefix(static_cast<std::size_t>(at - path.data()) + 1);
      stride /= length;
      found = {found.offset + index * stride, stride};
    }
  }
  return found;
}

}  // namespace svd
