// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <gelf.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace svd {

// The demangler would also read `m` as a type.
std::string readable(const char* name) {
  if (!std::string_view(name).starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : name;
}

std::vector<Symbol> symbols_of(const Module& module, const ModuleFiles& files) {
  std::vector<Symbol> symbols;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  auto take = [&](const char* name, const GElf_Sym& symbol) {
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) return;
    std::uint64_t address = symbol.st_value + module.bias;
    if (!seen.emplace(address, symbol.st_size).second) return;  // an alias: the first name serves
    symbols.push_back({readable(name), function ? SymbolKind::kFunction : SymbolKind::kData,
                       address, symbol.st_size});
  };
  if (!files.file || files.file.symbols(SHT_SYMTAB, take)) return symbols;
  if (files.debug && files.debug.symbols(SHT_SYMTAB, take)) return symbols;
  files.file.symbols(SHT_DYNSYM, take);
  return symbols;
}

std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics) {
  std::vector<Symbol> all;
  for (const Module& module : trace.modules()) {
    std::vector<Symbol> symbols = symbols_of(module, open_module(module, diagnostics));
    all.insert(all.end(), std::make_move_iterator(symbols.begin()),
               std::make_move_iterator(symbols.end()));
  }
  return all;
}

}  // namespace svd
