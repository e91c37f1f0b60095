// SPDX-License-Identifier: Apache-2.0

#include "symbols/module_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "symbols/function_name.h"
#include "symbols/member_path.h"

namespace svd {
namespace {

// The runtimes of C and C++ wherever they are installed, and what a recorder puts into a program.
constexpr std::array kRuntimes = {
    "ld-linux", "ld-",       "libasan", "libatomic", "libc-",      "libc.",      "libc++",
    "libdl.",   "libdl-",    "libgcc_", "libm-",     "libm.",      "libpthread", "librt.",
    "librt-",   "libstdc++", "libtsan", "libunwind", "vgpreload_",
};

// The folders in which the loader looks by itself: everything in them is installed for all
// programs.
bool in_loader_folder(std::string_view path) {
  std::string_view folder = path.substr(0, path.rfind('/'));
  if (folder.starts_with("/usr/")) folder.remove_prefix(std::string_view("/usr").size());
  if (folder == "/lib" || folder == "/lib64") return true;
  return folder.starts_with("/lib/") && folder.rfind('/') == std::string_view("/lib").size() &&
         folder.find("-linux-gnu") != std::string_view::npos;
}

Owner owner_of(std::string_view path) {
  if (path == "[vdso]") return Owner::kSystem;
  std::string_view name = path.substr(path.rfind('/') + 1);
  bool library = name.find(".so") != std::string_view::npos;
  // Tools of Valgrind are called so, its preloaded libraries "vgpreload_memcheck-amd64-linux.so".
  if (!library && name.ends_with("-amd64-linux")) return Owner::kRecorder;
  bool runtime = library && std::any_of(kRuntimes.begin(), kRuntimes.end(),
                                        [&](const char* start) { return name.starts_with(start); });
  return runtime || in_loader_folder(path) ? Owner::kSystem : Owner::kProgram;
}

}  // namespace

ModuleSource::ModuleSource(const Module& module, bool executable, Diagnostics& diagnostics)
    : module_(module),
      diagnostics_(diagnostics),
      owner_(executable ? Owner::kProgram : owner_of(module.path)),
      files_(open_module(module, diagnostics)) {}

DebugInfo* ModuleSource::debug() {
  if (debug_read_) return debug_.get();
  debug_read_ = true;
  debug_ = DebugInfo::open(files_, module_.path, diagnostics_);
  if (debug_ == nullptr && files_.file && owner_ == Owner::kProgram) {
    diagnostics_.add(
        "no-debug-information", Severity::kInfo, 1,
        fmt::format("{} has no debug information: no lines and variables of it", module_.path));
  }
  return debug_.get();
}

void ModuleSource::read_symbols() {
  if (symbols_read_) return;
  symbols_read_ = true;
  symbols_ = symbols_of(module_, files_);
  for (const Symbol& symbol : symbols_)
    (symbol.kind == SymbolKind::kData ? data_ : functions_).add(symbol);
  functions_.finish();
  data_.finish();
}

const SymbolTable& ModuleSource::functions() { return read_symbols(), functions_; }
const SymbolTable& ModuleSource::data() { return read_symbols(), data_; }

std::string ModuleSource::variable_at(std::uint64_t address, std::uint64_t size) {
  DebugInfo* debug = owner_ == Owner::kProgram ? this->debug() : nullptr;
  if (debug == nullptr) return {};
  const DwarfVariable* variable = debug->variable_at(address - module_.bias);
  if (variable == nullptr) return {};
  std::string name(debug->name_of(variable->entry));
  std::optional<Dwarf_Die> type = type_of(variable->entry);
  if (name.empty() || !type) return name;
  return name + member_path(*type, address - module_.bias - variable->address, size).text;
}

std::vector<Variable> ModuleSource::find_variables(std::string_view name) {
  std::vector<Variable> found;
  // "stats.hits", "table[3].head": what comes after the name is a member.
  std::size_t end = std::min(name.find_first_of(".["), name.size());
  NameQuery query(name.substr(0, end));
  if (DebugInfo* debug = owner_ == Owner::kProgram ? this->debug() : nullptr) {
    for (const DwarfVariable& variable : debug->variables()) {
      Dwarf_Die origin = origin_of(variable.entry);
      const char* last = dwarf_diename(&origin);
      if (last == nullptr || last != query.last()) continue;
      std::string_view full = debug->name_of(variable.entry);
      if (!query.means(full)) continue;
      std::optional<Member> member = Member{0, variable.size};
      if (end < name.size()) {
        std::optional<Dwarf_Die> type = type_of(variable.entry);
        member = type ? find_member(*type, name.substr(end)) : std::nullopt;
      }
      if (!member) continue;
      Addr address(variable.address + member->offset + module_.bias);
      if (!found.empty() && found.back().address == address) continue;  // each unit names it
      found.push_back({fmt::format("{}{}", full, name.substr(end)), address, member->size});
    }
  }
  if (!found.empty()) return found;
  NameQuery whole(name);  // symbols of statics in functions have points in them
  for (const Symbol* symbol : data().symbols())
    if (whole.means(symbol->name))
      found.push_back({symbol->name, Addr(symbol->address), symbol->size});
  return found;
}

}  // namespace svd
