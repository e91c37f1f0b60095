// SPDX-License-Identifier: Apache-2.0
//
// A unit's tree is walked once. Ranges of functions nest, so one sweep over them in order of their
// beginnings, with a stack of those that are open, makes a list of pieces that a binary search
// answers from.

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "symbols/debug_info.h"
#include "symbols/member_path.h"

namespace svd {
namespace {

constexpr std::uint32_t kNone = DwarfFunction::kNoCaller;
constexpr std::uint32_t kMaxDepth = 256;

// The address of a variable that has one for the whole run; not of those in registers, on stacks
// and of threads.
std::optional<std::uint64_t> fixed_address(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  Dwarf_Block block;
  if (dwarf_attr(&entry, DW_AT_location, &attribute) == nullptr ||
      dwarf_formblock(&attribute, &block) != 0 || block.length == 0) {
    return std::nullopt;
  }
  if (block.data[0] == DW_OP_addr && block.length == 1 + sizeof(std::uint64_t)) {
    std::uint64_t address = 0;
    std::memcpy(&address, block.data + 1, sizeof address);
    return address;
  }
  if (block.data[0] != DW_OP_addrx && block.data[0] != DW_OP_GNU_addr_index) return std::nullopt;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  Dwarf_Attribute indexed;
  Dwarf_Addr address = 0;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
      dwarf_getlocation_attr(&attribute, operations, &indexed) != 0 ||
      dwarf_formaddr(&indexed, &address) != 0) {
    return std::nullopt;
  }
  return address;
}

}  // namespace

const DwarfFunction* DwarfUnit::function_at(std::uint64_t address) {
  read();
  auto after = std::upper_bound(
      pieces_.begin(), pieces_.end(), address,
      [](std::uint64_t wanted, const Piece& piece) { return wanted < piece.begin; });
  if (after == pieces_.begin() || after[-1].function == kNone) return nullptr;
  return &functions_[after[-1].function];
}

void DwarfUnit::read() {
  if (read_) return;
  read_ = true;
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  Dwarf_Die split;
  Dwarf_Die tree = unit_;
  if (dwarf_cu_info(unit_.cu, &version, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton) {
    lost_ = split.addr == nullptr;
    if (!lost_) tree = split;
  }
  walk(tree, kNone, 0);
  flatten();
}

void DwarfUnit::walk(Dwarf_Die entry, std::uint32_t caller, std::uint32_t depth) {
  Dwarf_Die child;
  if (depth > kMaxDepth || dwarf_child(&entry, &child) != 0) return;
  bool in_function = dwarf_tag(&entry) != DW_TAG_namespace && depth > 0;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (!dwarf_hasattr(&child, DW_AT_declaration)) add_function(child, kNone, depth);
        break;
      case DW_TAG_inlined_subroutine:
        add_function(child, caller, depth);
        break;
      case DW_TAG_variable:
        add_variable(child);
        break;
      case DW_TAG_namespace:
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        walk(child, caller, depth + 1);
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        if (in_function) walk(child, kNone, depth + 1);  // the code of a local class is inside it
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

void DwarfUnit::add_function(Dwarf_Die& entry, std::uint32_t caller, std::uint32_t depth) {
  auto index = static_cast<std::uint32_t>(functions_.size());
  std::size_t before = ranges_.size();
  each_range(entry, [&](std::uint64_t begin, std::uint64_t end) {
    ranges_.push_back({begin, end, depth, index});
  });
  if (ranges_.size() == before) {
    index = caller;  // without code: an abstract one, whose variables can have addresses
  } else {
    functions_.push_back({entry, caller});
  }
  walk(entry, index, depth + 1);
}

void DwarfUnit::add_variable(Dwarf_Die& entry) {
  std::optional<std::uint64_t> address = fixed_address(entry);
  if (!address || *address == 0) return;
  std::optional<Dwarf_Die> type = type_of(entry);
  variables_.push_back({*address, type ? size_of(*type) : 0, entry});
}

void DwarfUnit::flatten() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tuple(a.begin, b.end, a.depth) < std::tuple(b.begin, a.end, b.depth);
  });
  auto from = [this](std::uint64_t begin, std::uint32_t function) {
    if (!pieces_.empty() && pieces_.back().begin == begin) pieces_.pop_back();
    pieces_.push_back({begin, function});
  };
  std::vector<Range> open;
  auto close_up_to = [&](std::uint64_t address) {
    while (!open.empty() && open.back().end <= address) {
      std::uint64_t end = open.back().end;
      open.pop_back();
      from(end, open.empty() ? kNone : open.back().function);
    }
  };
  for (Range range : ranges_) {
    close_up_to(range.begin);
    if (!open.empty()) range.end = std::min(range.end, open.back().end);
    from(range.begin, range.function);
    open.push_back(range);
  }
  close_up_to(~std::uint64_t{0});
  ranges_ = {};
}

}  // namespace svd
