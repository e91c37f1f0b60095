// SPDX-License-Identifier: Apache-2.0
//
// Which pieces make a function.
#pragma once

#include "cfg/discovery.h"

namespace svd {

// Numbers `pieces`, those of `discovery`, by function, and tells which are called; returns how many
// functions there are.
// A piece belongs to another one when a jump from there leads into its middle, or to its beginning
// if its symbol says that it is a fragment, or if nothing else suggests a function of its own: no
// symbol, no call, and all jumps are from one function, one of them conditional. Every other jump
// to a beginning is a call in the place of a return.
std::uint32_t merge_pieces(const Discovery& discovery, const Observations& observations,
                           std::vector<CodePiece>& pieces);

}  // namespace svd
