// SPDX-License-Identifier: Apache-2.0
//
// What is known about the code and data of one module: its symbol tables and its DWARF, each read
// when it is first asked for. Addresses are those of the run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/debug_info.h"
#include "symbols/elf_file.h"
#include "symbols/elf_symbols.h"
#include "symbols/source_map.h"
#include "symbols/symbol_table.h"

namespace svd {

// Whose code a module is.
enum class Owner { kProgram, kSystem, kRecorder };

class ModuleSource {
 public:
  // All must outlive it.
  ModuleSource(const Module& module, bool executable, Diagnostics& diagnostics);

  const std::string& path() const { return module_.path; }
  std::uint64_t bias() const { return module_.bias; }
  Owner owner() const { return owner_; }

  DebugInfo* debug();  // null: there is none
  const SymbolTable& functions();
  const SymbolTable& data();

  // By DWARF; "" when that does not know it.
  std::string variable_at(std::uint64_t address, std::uint64_t size);
  std::vector<Variable> find_variables(std::string_view name);

 private:
  void read_symbols();

  const Module& module_;
  Diagnostics& diagnostics_;
  Owner owner_;
  ModuleFiles files_;
  bool debug_read_ = false;
  std::unique_ptr<DebugInfo> debug_;
  bool symbols_read_ = false;
  std::vector<Symbol> symbols_;
  SymbolTable functions_;
  SymbolTable data_;
};

}  // namespace svd
