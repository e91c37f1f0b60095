// SPDX-License-Identifier: Apache-2.0
//
// Names of functions and variables from the symbol tables of the files that a trace's modules were
// loaded from, or of their separate debug files.
#pragma once

#include <string>
#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"
#include "symbols/elf_file.h"

namespace svd {

// Symbols at their run-time addresses, C++ names readable, by address; of those with the same
// address and size the name that people use is the last: "malloc" after "__libc_malloc".
std::vector<Symbol> symbols_of(const Module& module, const ModuleFiles& files);

// Those of all modules, each by that one name; what the trace holds itself is not among them.
std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics);

// What the compiler made a name from; names that are not of C++ as they are.
std::string readable(const char* name);

}  // namespace svd
