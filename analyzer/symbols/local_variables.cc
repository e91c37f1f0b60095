// SPDX-License-Identifier: Apache-2.0
//
// Variables of functions. DWARF says where one is by a small program; the ones here are those of a
// single step that compilers emit: a register, a register plus an offset, an offset in the frame.

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "symbols/debug_info.h"

namespace svd {
namespace {

constexpr int kMaxDepth = 256;

struct Location {
  bool in_memory;
  int reg;
  std::int64_t offset;
};

// By one operation. `frame` is what offsets in the frame count from.
std::optional<Location> location_of(const Dwarf_Op& operation, std::optional<Location> frame) {
  auto offset = static_cast<std::int64_t>(operation.number);
  unsigned atom = operation.atom;
  if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
    return Location{false, static_cast<int>(atom - DW_OP_reg0), 0};
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
    return Location{true, static_cast<int>(atom - DW_OP_breg0), offset};
  if (atom == DW_OP_fbreg && frame) return Location{true, frame->reg, frame->offset + offset};
  return std::nullopt;
}

std::optional<Location> location_of(Dwarf_Die entry, unsigned name, std::uint64_t address,
                                    std::optional<Location> frame) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_getlocation_addr(dwarf_attr(&entry, name, &attribute), address, &operations, &count,
                             1) != 1 ||
      count != 1) {
    return std::nullopt;
  }
  if (operations->atom == DW_OP_call_frame_cfa) return frame;
  return location_of(*operations, frame);
}

// What the caller's stack pointer was, as a register plus an offset.
std::optional<Location> frame_address(Dwarf_CFI* frames, std::uint64_t address) {
  Dwarf_Frame* found = nullptr;
  if (frames == nullptr || dwarf_cfi_addrframe(frames, address, &found) != 0) return std::nullopt;
  std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(found, &operations, &count) != 0 || count != 1) return std::nullopt;
  if (operations->atom != DW_OP_bregx) return location_of(*operations, std::nullopt);
  return Location{true, static_cast<int>(operations->number),
                  static_cast<std::int64_t>(operations->number2)};
}

// What is inlined from there has names that say nothing, `__first` and a `this` that is not the
// program's.
bool is_of_library(std::string_view function) {
  return function.starts_with("std::") || function.starts_with("__");
}

// Those of a function or block and of the blocks in it that the address is in, the latter first.
void add_locals(Dwarf_Die scope, std::uint64_t address, std::optional<Location> frame, int depth,
                std::vector<LocalVariable>& locals) {
  Dwarf_Die child;
  if (depth > kMaxDepth || dwarf_child(&scope, &child) != 0) return;
  std::vector<LocalVariable> own;
  do {
    int tag = dwarf_tag(&child);
    if (tag == DW_TAG_lexical_block && dwarf_haspc(&child, address) == 1)
      add_locals(child, address, frame, depth + 1, locals);
    if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
    if (auto at = location_of(child, DW_AT_location, address, frame))
      own.push_back({child, at->in_memory, at->reg, at->offset});
  } while (dwarf_siblingof(&child, &child) == 0);
  locals.insert(locals.end(), own.begin(), own.end());
}

}  // namespace

std::vector<LocalVariable> DebugInfo::locals_at(std::uint64_t address) {
  std::vector<LocalVariable> locals;
  DwarfUnit* unit = unit_at(address);
  const DwarfFunction* function = unit == nullptr ? nullptr : unit->function_at(address);
  if (function == nullptr) return locals;
  const DwarfFunction* real = function;
  while (real->caller != DwarfFunction::kNoCaller) real = &unit->functions()[real->caller];
  // Offsets count from the frame base, which is the frame address or a register.
  std::optional<Location> frame =
      location_of(real->entry, DW_AT_frame_base, address, frame_address(frames_, address));
  while (true) {
    if (!is_of_library(name_of(function->entry)))
      add_locals(function->entry, address, frame, 0, locals);
    if (function == real) break;
    function = &unit->functions()[function->caller];
  }
  return locals;
}

}  // namespace svd
