// SPDX-License-Identifier: Apache-2.0

#include "cfg/pieces.h"

#include <algorithm>
#include <utility>

#include "decode/effects.h"

namespace svd {

namespace {

bool begins_before(const CodePiece& a, const CodePiece& b) { return a.range.begin < b.range.begin; }

// Fragments that g++ and clang++ put elsewhere, because they seldom run.
bool names_fragment(const std::string& name) { return name.find(".cold") != std::string::npos; }

// One piece for each stub.
void add_stubs(const CodeRegion& region, std::vector<CodePiece>& pieces) {
  const LoadedBytes& code = region.code;
  for (Address at = code.begin; at < code.end(); at += code.stub_size) {
    CodePiece piece{.range = {at, std::min(at + code.stub_size, code.end())}};
    piece.stub = piece.sized = true;
    for (Address pc = at; pc < piece.range.end;) {
      CodeStep step = region.step(pc);
      if (step.length == 0) break;
      if (step.flow == Flow::kIndirectJump && step.base == CodeStep::kRip)
        piece.name = region.file->import(step.displacement);
      pc += step.length;
    }
    pieces.push_back(std::move(piece));
  }
}

void add_frames(const ModuleFile& file, const CodeMap& map, std::vector<CodePiece>& pieces) {
  for (const FrameDescription& frame : file.frames()) {
    const CodeRange& range = frame.range;
    const CodeRegion* region = map.find(range.begin);
    if (region == nullptr || region->code.stub_size != 0 || range.end > region->code.end())
      continue;
    pieces.push_back({.range = range, .sized = true, .framed = true});
  }
}

void add_symbols(const ModuleFile& file, const CodeMap& map, std::vector<CodePiece>& pieces) {
  for (const FunctionSymbol& symbol : file.functions()) {
    const CodeRegion* region = map.find(symbol.range.begin);
    if (region == nullptr || region->code.stub_size != 0) continue;
    bool cold = names_fragment(symbol.name);
    pieces.push_back({.range = {symbol.range.begin, std::min(symbol.range.end, region->code.end())},
                      .name = symbol.name,
                      .sized = symbol.range.end > symbol.range.begin,
                      .named = !cold,
                      .cold = cold});
  }
}

// Of pieces at the same place the first has the extent, and the first with a name the name. One
// that begins inside of a sized one is dropped, but a frame is not for a symbol: a symbol can be
// wrong about its size, and one inside of a frame names an entry and not a function. What has no
// end ends where the next one begins.
std::vector<CodePiece> disjoint(const CodeMap& map, std::vector<CodePiece> all) {
  std::stable_sort(all.begin(), all.end(), begins_before);
  std::vector<CodePiece> pieces;
  for (CodePiece& piece : all) {
    CodePiece* last = pieces.empty() ? nullptr : &pieces.back();
    if (last != nullptr && last->range.begin == piece.range.begin) {
      if (!last->sized) last->range = piece.range, last->sized = piece.sized;
      if (last->name.empty())
        last->name = std::move(piece.name), last->named = piece.named, last->cold = piece.cold;
    } else if (last == nullptr || !last->sized || piece.range.begin >= last->range.end ||
               (piece.framed && !last->framed)) {
      pieces.push_back(std::move(piece));
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CodeRange& range = pieces[i].range;
    Address limit = map.find(range.begin)->code.end();
    if (i + 1 < pieces.size()) limit = std::min(limit, pieces[i + 1].range.begin);
    range.end = pieces[i].sized ? std::min(range.end, limit) : limit;
  }
  return pieces;
}

}  // namespace

std::vector<CodePiece> pieces_of_files(const CodeMap& map) {
  std::vector<CodePiece> pieces;
  for (const CodeRegion& region : map.regions())
    if (region.code.stub_size != 0) add_stubs(region, pieces);
  for (const auto& file : map.files()) {
    add_frames(*file, map, pieces);
    add_symbols(*file, map, pieces);
  }
  return disjoint(map, std::move(pieces));
}

void add_pieces(const CodeMap& map, std::vector<Address> starts, std::vector<CodePiece>& pieces) {
  for (Address start : starts)
    if (map.find(start) != nullptr) pieces.push_back({.range = {start, start}});
  pieces = disjoint(map, std::move(pieces));
}

const CodePiece* find_piece(const std::vector<CodePiece>& pieces, Address at) {
  auto next =
      std::upper_bound(pieces.begin(), pieces.end(), at,
                       [](Address a, const CodePiece& piece) { return a < piece.range.begin; });
  return next == pieces.begin() || !(--next)->contains(at) ? nullptr : &*next;
}

}  // namespace svd
