// SPDX-License-Identifier: Apache-2.0
//
// How a slot is spelt, in a block (`w4!@$0+8`) and before a place in an execution of a statement
// (`w!`). The grammar: text_code.h.
#pragma once

#include <string>
#include <string_view>

#include "svd/trace/block.h"
#include "text_symbols.h"

namespace svd::text {

Slot parse_slot(std::string_view token, std::uint16_t instruction, const SymbolNames& symbols);
void print_slot(std::string& out, const Slot& slot, const SymbolNames& symbols);

// The slot without size and address.
Slot parse_access(std::string_view token);
void print_access(std::string& out, const Slot& slot);

}  // namespace svd::text
