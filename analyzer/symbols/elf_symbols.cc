// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_symbols.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "symbols/elf_file.h"

namespace svd {

namespace {

// The demangler would also read `m` as a type.
std::string readable(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : name;
}

class Loader {
 public:
  void load(const Module& module, Diagnostics& diagnostics) {
    ElfFile file(module.path);
    if (!file) return missing(module, "cannot be read", diagnostics);
    if (file.build_id() != module.build_id) {
      return missing(module, "is not the build that was recorded", diagnostics);
    }
    auto take = [&](const char* name, const GElf_Sym& symbol) { add(module, name, symbol); };
    if (file.symbols(SHT_SYMTAB, take)) return;
    ElfFile debug(debug_path(module.build_id));
    if (debug && debug.symbols(SHT_SYMTAB, take)) return;
    file.symbols(SHT_DYNSYM, take);
  }

  std::vector<Symbol> symbols;

 private:
  void add(const Module& module, const char* name, const GElf_Sym& symbol) {
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) return;
    std::uint64_t address = symbol.st_value + module.bias;
    if (!seen_.emplace(address, symbol.st_size).second) return;  // an alias: the first name serves
    symbols.push_back({readable(name), function ? SymbolKind::kFunction : SymbolKind::kData,
                       address, symbol.st_size});
  }

  static void missing(const Module& module, const char* why, Diagnostics& diagnostics) {
    if (module.path.empty() || module.path.front() != '/') return;  // the vdso, generated code
    diagnostics.add("no-symbols", Severity::kInfo, 1,
                    fmt::format("{} {}: no names from it", module.path, why));
  }

  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace

std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics) {
  Loader loader;
  for (const Module& module : trace.modules()) loader.load(module, diagnostics);
  return std::move(loader.symbols);
}

}  // namespace svd
