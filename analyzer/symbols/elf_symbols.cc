// SPDX-License-Identifier: Apache-2.0

#include "symbols/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace svd {
namespace {

// At the beginning: the more, the more inner a name is.
int underscores(std::string_view name) {
  return static_cast<int>(std::min(name.find_first_not_of('_'), name.size()));
}

}  // namespace

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
  auto take = [&](const char* name, const GElf_Sym& symbol) {
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) return;
    std::string without_version(name);
    without_version.resize(std::min(without_version.find('@'), without_version.size()));
    symbols.push_back({readable(without_version.c_str()),
                       function ? SymbolKind::kFunction : SymbolKind::kData,
                       symbol.st_value + module.bias, symbol.st_size});
  };
  bool found = files.file && (files.file.symbols(SHT_SYMTAB, take) ||
                              (files.debug && files.debug.symbols(SHT_SYMTAB, take)));
  if (files.file && !found) files.file.symbols(SHT_DYNSYM, take);
  auto rank = [](const Symbol& symbol) {
    return std::tuple(symbol.address, symbol.size, -underscores(symbol.name), ~symbol.name.size(),
                      std::string_view(symbol.name));
  };
  std::sort(symbols.begin(), symbols.end(),
            [&](const Symbol& a, const Symbol& b) { return rank(a) < rank(b); });
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics) {
  std::vector<Symbol> all;
  for (const Module& module : trace.modules()) {
    std::vector<Symbol> symbols = symbols_of(module, open_module(module, diagnostics));
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      bool last = i + 1 == symbols.size() || symbols[i].address != symbols[i + 1].address ||
                  symbols[i].size != symbols[i + 1].size;
      if (last) all.push_back(std::move(symbols[i]));
    }
  }
  return all;
}

}  // namespace svd
