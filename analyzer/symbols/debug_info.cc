// SPDX-License-Identifier: Apache-2.0

#include "symbols/debug_info.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace svd {

std::unique_ptr<DebugInfo> DebugInfo::open(const ModuleFiles& files, const std::string& path,
                                           Diagnostics& diagnostics) {
  if (!files.file) return nullptr;
  Dwarf* dwarf = dwarf_begin_elf(files.dwarf().elf(), DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  std::unique_ptr<DebugInfo> info(new DebugInfo(dwarf, files, path, diagnostics));
  return info->units_.empty() ? nullptr : std::move(info);
}

DebugInfo::DebugInfo(Dwarf* dwarf, const ModuleFiles& files, const std::string& path,
                     Diagnostics& diagnostics)
    : dwarf_(dwarf),
      frames_(dwarf_getcfi_elf(files.file.elf())),
      path_(path),
      diagnostics_(diagnostics),
      code_(files.file.code()) {
  Dwarf_CU* unit = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die entry;
  while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &entry, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    units_.emplace_back(entry, code_);
    units_.back().each_range(entry, [this](std::uint64_t begin, std::uint64_t end) {
      ranges_.push_back({begin, end, static_cast<std::uint32_t>(units_.size() - 1)});
    });
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

DebugInfo::~DebugInfo() {
  if (frames_ != nullptr) dwarf_cfi_end(frames_);
  dwarf_end(dwarf_);
}

DwarfUnit* DebugInfo::unit_at(std::uint64_t address) {
  auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](std::uint64_t wanted, const UnitRange& range) { return wanted < range.begin; });
  if (after == ranges_.begin() || after[-1].end <= address) return nullptr;
  return &units_[after[-1].unit];
}

void DebugInfo::say_when_lost(DwarfUnit& unit) {
  if (unit.say_lost()) {
    diagnostics_.add("no-split-debug-file", Severity::kInfo, 1,
                     fmt::format("{}: a file with split-off debug information (.dwo) is missing: "
                                 "no inlined functions and variables from it",
                                 path_));
  }
}

std::string_view DebugInfo::path_of(const char* file, Dwarf_Die& unit) {
  if (file == nullptr) return {};
  auto [at, is_new] = paths_.try_emplace(file);
  if (!is_new) return at->second;
  std::filesystem::path path(file);
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  if (path.is_relative() && folder != nullptr && *folder == '/') path = folder / path;
  return at->second = path.lexically_normal();
}

SourceLine DebugInfo::call_of(const Dwarf_Die& inlined) {
  Dwarf_Die entry = inlined;
  Dwarf_Die unit;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(&entry, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_formudata(dwarf_attr(&entry, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_diecu(&entry, &unit, nullptr, nullptr) == nullptr ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) {
    return {};
  }
  return {path_of(dwarf_filesrc(files, file, nullptr, nullptr), unit),
          static_cast<std::uint32_t>(line)};
}

SourceLine DebugInfo::line_at(std::uint64_t address) {
  DwarfUnit* unit = unit_at(address);
  Dwarf_Line* line = unit == nullptr ? nullptr : dwarf_getsrc_die(&unit->entry(), address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0 || number == 0) return {};
  return {path_of(dwarf_linesrc(line, nullptr, nullptr), unit->entry()),
          static_cast<std::uint32_t>(number)};
}

void DebugInfo::frames_at(std::uint64_t address, const OnFrame& f) {
  DwarfUnit* unit = unit_at(address);
  if (unit == nullptr) return;
  const DwarfFunction* function = unit->function_at(address);
  say_when_lost(*unit);
  SourceLine place = function == nullptr ? SourceLine{} : line_at(address);
  while (function != nullptr) {
    f(name_of(function->entry), place);
    if (function->caller == DwarfFunction::kNoCaller) break;
    place = call_of(function->entry);
    function = &unit->functions()[function->caller];
  }
}

void DebugInfo::each_file(const std::function<void(std::string_view)>& f) {
  for (DwarfUnit& unit : units_) {
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit.entry(), &files, &count) != 0) continue;
    for (std::size_t i = 0; i < count; ++i)
      if (const char* file = dwarf_filesrc(files, i, nullptr, nullptr))
        f(path_of(file, unit.entry()));
  }
}

void DebugInfo::each_line(const std::function<bool(std::string_view)>& wanted,
                          const std::function<void(const DwarfLine&)>& f) {
  std::unordered_map<const char*, bool> verdicts;
  for (DwarfUnit& unit : units_) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&unit.entry(), &lines, &count) != 0) continue;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* line = dwarf_onesrcline(lines, i);
      const char* file = dwarf_linesrc(line, nullptr, nullptr);
      bool sequence_ends = true;
      if (file == nullptr || dwarf_lineendsequence(line, &sequence_ends) != 0 || sequence_ends)
        continue;
      auto [verdict, is_new] = verdicts.try_emplace(file);
      if (is_new) verdict->second = wanted(path_of(file, unit.entry()));
      Dwarf_Addr address = 0;
      Dwarf_Addr end = 0;
      int number = 0;
      bool statement = false;
      if (!verdict->second || dwarf_lineaddr(line, &address) != 0 ||
          dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &end) != 0 ||
          dwarf_lineno(line, &number) != 0 || dwarf_linebeginstatement(line, &statement) != 0) {
        continue;
      }
      if (address < code_.first || address >= code_.second || number == 0) continue;
      f({address, end, static_cast<std::uint32_t>(number), statement});
    }
  }
}

void DebugInfo::each_entry(std::string_view last, const OnName& wanted,
                           const std::function<void(std::uint64_t)>& f) {
  if (last.starts_with("{lambda")) last = "operator()";
  for (DwarfUnit& unit : units_) {
    for (const DwarfFunction& function : unit.functions()) {
      Dwarf_Die origin = origin_of(function.entry);
      const char* name = dwarf_diename(&origin);
      if (name == nullptr || !std::string_view(name).starts_with(last)) continue;
      Dwarf_Attribute attribute;
      const char* linkage =
          dwarf_formstring(dwarf_attr_integrate(&origin, DW_AT_linkage_name, &attribute));
      if (!wanted(name_of(origin), linkage == nullptr ? name : linkage)) continue;
      Dwarf_Die entry = function.entry;
      Dwarf_Addr address = 0;
      if (dwarf_entrypc(&entry, &address) != 0) {
        address = 0;
        unit.each_range(entry, [&](std::uint64_t begin, std::uint64_t) {
          if (address == 0) address = begin;
        });
      }
      f(address);
    }
    say_when_lost(unit);
  }
}

const std::vector<DwarfVariable>& DebugInfo::variables() {
  if (all_variables_) return variables_;
  all_variables_ = true;
  for (DwarfUnit& unit : units_) {
    variables_.insert(variables_.end(), unit.variables().begin(), unit.variables().end());
    say_when_lost(unit);
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const DwarfVariable& a, const DwarfVariable& b) { return a.address < b.address; });
  return variables_;
}

const DwarfVariable* DebugInfo::variable_at(std::uint64_t address) {
  variables();
  auto after = std::upper_bound(variables_.begin(), variables_.end(), address,
                                [](std::uint64_t wanted, const DwarfVariable& variable) {
                                  return wanted < variable.address;
                                });
  if (after == variables_.begin()) return nullptr;
  const DwarfVariable& variable = after[-1];
  bool in_it = address - variable.address < std::max<std::uint64_t>(variable.size, 1);
  return in_it ? &variable : nullptr;
}

}  // namespace svd
