// SPDX-License-Identifier: Apache-2.0
//
// Names of functions and variables from the files that a trace's modules were loaded from, or from
// their separate debug files. A file is believed only when its build-id is the recorded one: a name
// from another build would be a lie.
#pragma once

#include <vector>

#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// Symbols of all modules at their run-time addresses, C++ names readable; those that the trace
// holds itself are not among them.
std::vector<Symbol> load_elf_symbols(const TraceReader& trace, Diagnostics& diagnostics);

}  // namespace svd
