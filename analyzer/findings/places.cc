// SPDX-License-Identifier: Apache-2.0

#include "findings/places.h"

#include <fmt/format.h>

#include <algorithm>

#include "symbols/elf_symbols.h"

namespace svd {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const Module* module_of(const TraceReader& trace, std::uint64_t address) {
  for (const Module& module : trace.modules()) {
    for (const Segment& segment : module.segments) {
      if (address - segment.address.value < segment.size) return &module;
    }
  }
  return nullptr;
}

}  // namespace

Places::Places(const TraceReader& trace, Diagnostics& diagnostics)
    : trace_(trace), loaded_(load_elf_symbols(trace, diagnostics)) {
  auto add = [this](const Symbol& symbol) {
    (symbol.kind == SymbolKind::kFunction ? functions_ : data_).push_back(&symbol);
  };
  for (const Symbol& symbol : trace.symbols()) add(symbol);
  for (const Symbol& symbol : loaded_) add(symbol);
  auto by_address = [](const Symbol* a, const Symbol* b) { return a->address < b->address; };
  std::stable_sort(functions_.begin(), functions_.end(), by_address);
  std::stable_sort(data_.begin(), data_.end(), by_address);
}

const Symbol* Places::find(const std::vector<const Symbol*>& table, std::uint64_t address) const {
  auto after = std::upper_bound(table.begin(), table.end(), address,
                                [](std::uint64_t a, const Symbol* s) { return a < s->address; });
  if (after == table.begin()) return nullptr;
  const Symbol* symbol = *(after - 1);
  return address - symbol->address < std::max<std::uint64_t>(symbol->size, 1) ? symbol : nullptr;
}

CodeName Places::code(Pc pc) {
  CodeName name;
  if (const Module* module = module_of(trace_, pc.value)) name.module = module->path;
  if (const Symbol* function = find(functions_, pc.value)) name.function = function->name;
  name.system = name.module.starts_with("/usr/lib/") || name.module.starts_with("/lib/") ||
                name.module.find("vgpreload_") != std::string::npos;
  return name;
}

CodePlace Places::place(Pc pc) {
  CodeName name = code(pc);
  CodePlace place;
  place.pc = pc;
  place.module = file_name(name.module);
  place.function = name.function;
  return place;
}

CodePlace Places::place(StatementId id) {
  const Statement& statement = trace_.statements()[id.value];
  CodePlace place;
  place.file = statement.file;
  place.line = statement.line;
  place.function = statement.function;
  place.label = statement.label;
  place.text = statement.text;
  return place;
}

std::string Places::variable(Addr address, std::uint64_t) {
  const Symbol* symbol = find(data_, address.value);
  if (symbol == nullptr) return "";
  std::uint64_t offset = address.value - symbol->address;
  return offset == 0 ? symbol->name : fmt::format("{}+{}", symbol->name, offset);
}

std::string Places::lock(Addr address) {
  std::string name = variable(address, 1);
  return name.empty() ? fmt::format("{:#x}", address.value) : name;
}

}  // namespace svd
