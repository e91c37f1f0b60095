// SPDX-License-Identifier: Apache-2.0
//
// The DWARF of one module: functions with what was inlined into them, lines, variables of static
// storage. Addresses are those of the file. A compilation unit is read when something in it is
// asked for. Ranges outside of the file's code are dropped: linkers leave such for what they threw
// away.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/dwarf_names.h"
#include "symbols/elf_file.h"

namespace svd {

// A function or an inlined copy of one.
struct DwarfFunction {
  Dwarf_Die entry;
  std::uint32_t caller;  // into which it was inlined, in the same unit; kNoCaller
  static constexpr std::uint32_t kNoCaller = ~std::uint32_t{0};
};

struct DwarfVariable {
  std::uint64_t address;
  std::uint64_t size;  // 0: not known
  Dwarf_Die entry;
};

// A variable of a function, where it is while an instruction is executed: in a register (as DWARF
// numbers them), or in memory at a register plus an offset.
struct LocalVariable {
  Dwarf_Die entry;
  bool in_memory;
  int reg;
  std::int64_t offset;
};

// One row of the line table: code [address, end), which can be empty.
struct DwarfLine {
  std::uint64_t address;
  std::uint64_t end;
  std::uint32_t line;
  bool statement;
};

// Where in the source something is.
struct SourceLine {
  std::string_view file;
  std::uint32_t line = 0;
};

// A compilation unit.
class DwarfUnit {
 public:
  DwarfUnit(Dwarf_Die unit, std::pair<std::uint64_t, std::uint64_t> code)
      : unit_(unit), code_(code) {}

  Dwarf_Die& entry() { return unit_; }
  // Whether it was split off into a file that is not there; true only once.
  bool say_lost() { return read(), std::exchange(lost_, false); }

  const std::vector<DwarfFunction>& functions() { return read(), functions_; }
  const std::vector<DwarfVariable>& variables() { return read(), variables_; }
  // The innermost function at an address; null when there is none.
  const DwarfFunction* function_at(std::uint64_t address);

  // Calls f(begin, end) for each range of code of an entry.
  template <class F>
  void each_range(Dwarf_Die& entry, F&& f) const {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0;)
      if (code_.first <= begin && begin < end && end <= code_.second) f(begin, end);
  }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t depth;
    std::uint32_t function;
  };
  // From here on, up to the next one, this is the innermost function.
  struct Piece {
    std::uint64_t begin;
    std::uint32_t function;
  };

  void read();
  void walk(Dwarf_Die entry, std::uint32_t caller, std::uint32_t depth);
  void add_function(Dwarf_Die& entry, std::uint32_t caller, std::uint32_t depth);
  void add_variable(Dwarf_Die& entry);
  void flatten();

  Dwarf_Die unit_;
  std::pair<std::uint64_t, std::uint64_t> code_;
  bool read_ = false;
  bool lost_ = false;
  std::vector<Range> ranges_;  // while it is read
  std::vector<DwarfFunction> functions_;
  std::vector<Piece> pieces_;
  std::vector<DwarfVariable> variables_;
};

class DebugInfo {
 public:
  // Null when there is none. All must outlive it; what is missing of `path` is added to
  // `diagnostics` when it is noticed.
  static std::unique_ptr<DebugInfo> open(const ModuleFiles& files, const std::string& path,
                                         Diagnostics& diagnostics);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // Calls f(function, place) from the innermost inlined function to the real one; nothing where
  // there is no function.
  using OnFrame = std::function<void(std::string_view function, SourceLine place)>;
  void frames_at(std::uint64_t address, const OnFrame& f);
  // Also right where no function is known: assembly.
  SourceLine line_at(std::uint64_t address);

  // Every row of every file that `wanted` takes.
  void each_line(const std::function<bool(std::string_view file)>& wanted,
                 const std::function<void(const DwarfLine&)>& f);
  void each_file(const std::function<void(std::string_view file)>& f);

  // Where functions and inlined copies of functions begin that are called `last`, or `last` and
  // template arguments, and that `wanted` takes by their full name and by their linker's name.
  using OnName = std::function<bool(std::string_view name, std::string_view linkage)>;
  void each_entry(std::string_view last, const OnName& wanted,
                  const std::function<void(std::uint64_t address)>& f);

  const std::vector<DwarfVariable>& variables();            // by address
  const DwarfVariable* variable_at(std::uint64_t address);  // null when there is none
  // Of the functions that an instruction is in, the innermost one's first; not of those of the C++
  // library, and not those that were optimised into something else than one place.
  std::vector<LocalVariable> locals_at(std::uint64_t address);
  std::string_view name_of(const Dwarf_Die& entry) { return names_.name_of(entry); }

 private:
  struct UnitRange {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t unit;
  };

  DebugInfo(Dwarf* dwarf, const ModuleFiles& files, const std::string& path,
            Diagnostics& diagnostics);
  DwarfUnit* unit_at(std::uint64_t address);
  void say_when_lost(DwarfUnit& unit);
  // Names in a unit's tables can be relative to the folder in which it was compiled.
  std::string_view path_of(const char* file, Dwarf_Die& unit);
  SourceLine call_of(const Dwarf_Die& inlined);

  Dwarf* dwarf_;
  Dwarf_CFI* frames_ = nullptr;  // how frames lie on the stack
  const std::string& path_;
  Diagnostics& diagnostics_;
  std::pair<std::uint64_t, std::uint64_t> code_;
  std::vector<DwarfUnit> units_;
  std::vector<UnitRange> ranges_;  // by address
  bool all_variables_ = false;
  std::vector<DwarfVariable> variables_;
  DwarfNames names_;
  std::unordered_map<const char*, std::string> paths_;  // in normal form, by libdw's spelling
};

}  // namespace svd
