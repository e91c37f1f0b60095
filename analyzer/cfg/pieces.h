// SPDX-License-Identifier: Apache-2.0
//
// A piece of code: what one symbol or one frame description covers, or what begins where a call
// goes. A function is made of one or more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cfg/code_map.h"

namespace svd {

struct CodePiece {
  CodeRange range{};
  std::string name{};
  bool sized = false;   // its end is told by the file, and is not only where the next one begins
  bool framed = false;  // by a frame description
  bool named = false;   // its symbol is that of a function, not of a fragment
  bool cold = false;    // its symbol is that of a fragment
  bool stub = false;    // of the linker's, to get to another module
  bool called = false;  // somewhere in the code, or in the run
  std::uint32_t function = 0;

  bool contains(Address at) const { return at >= range.begin && at < range.end; }
};

// What the files say: symbols, frame descriptions, linkage stubs. Ascending and disjoint.
std::vector<CodePiece> pieces_of_files(const CodeMap& map);

// Adds pieces that begin at `starts` and end where the next one begins. A start within a piece
// divides it unless that is sized.
void add_pieces(const CodeMap& map, std::vector<Address> starts, std::vector<CodePiece>& pieces);

// The piece that contains `at`; null: none.
const CodePiece* find_piece(const std::vector<CodePiece>& pieces, Address at);

}  // namespace svd
