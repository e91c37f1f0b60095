// SPDX-License-Identifier: Apache-2.0
//
// Control dependence as in Ferrante, Ottenstein and Warren (1987): what lies between a branch and
// its immediate post-dominator depends on it.

#include "cfg/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cfg/flow_graph.h"
#include "cfg/observe.h"
#include "decode/decoder.h"

namespace svd {

namespace {

bool inside(const Module& module, const LoadedBytes& code) {
  return std::any_of(module.segments.begin(), module.segments.end(), [&](const Segment& segment) {
    return code.begin >= segment.address.value && code.begin < segment.address.value + segment.size;
  });
}

// The code of the files, as far as it is that of the trace's blocks, and that of the other blocks.
void read_code(const TraceReader& trace, CodeMap& map, Diagnostics& diagnostics) {
  std::vector<LoadedBytes> blocks;
  for (const Block& block : trace.blocks())
    for (const LoadedBytes& piece : straight_pieces(block)) blocks.push_back(piece);
  for (const Module& module : trace.modules()) {
    std::vector<LoadedBytes> mine;
    std::copy_if(
        blocks.begin(), blocks.end(), std::back_inserter(mine),
        [&](const LoadedBytes& block) { return inside(module, block) && !map.holds(block); });
    if (mine.empty()) continue;
    auto file = ModuleFile::open(module);
    bool same = file != nullptr && std::all_of(mine.begin(), mine.end(), [&](const auto& block) {
                  auto there = file->bytes_at(block.begin);
                  return there.size() >= block.bytes.size() &&
                         std::equal(block.bytes.begin(), block.bytes.end(), there.begin());
                });
    if (same && map.add(std::move(file))) continue;
    diagnostics.add("no-code", Severity::kInfo, 1,
                    fmt::format("{}: only the code that ran is known", module.path));
  }
  map.add_seen(blocks);
  auto changed = std::count_if(blocks.begin(), blocks.end(),
                               [&](const LoadedBytes& block) { return !map.holds(block); });
  if (changed > 0) {
    diagnostics.add("changed-code", Severity::kLoss, static_cast<std::uint64_t>(changed),
                    "blocks at whose addresses there was other code, too: of what belongs to their "
                    "branches some is wrong");
  }
}

}  // namespace

ControlFlow ControlFlow::of(const TraceReader& trace, Diagnostics& diagnostics) {
  CodeMap map;
  read_code(trace, map, diagnostics);
  Observations observations = observe(trace);
  Discovery discovery(map, observations);
  FlowGraphs graphs(discovery);
  std::vector<bool> executed(discovery.function_count());
  for (Address at : observations.executed)
    if (const CodePiece* piece = discovery.piece(at)) executed[piece->function] = true;

  Decoder decoder;
  ControlFlow result;
  for (std::uint32_t f = 0; f < discovery.function_count(); ++f)
    if (executed[f]) result.add_function(discovery, graphs, f, decoder, diagnostics);
  result.finish();
  return result;
}

void ControlFlow::add_function(const Discovery& discovery, const FlowGraphs& graphs,
                               std::uint32_t function, const Decoder& decoder,
                               Diagnostics& diagnostics) {
  auto number = static_cast<std::uint32_t>(functions_.size());
  Function& added = functions_.emplace_back();
  added.noreturn = graphs.noreturn(function);
  const CodePiece* entry = nullptr;
  for (std::uint32_t i : graphs.pieces(function)) {
    const CodePiece& piece = discovery.pieces()[i];
    if (entry == nullptr ||
        std::pair(piece.named, piece.called) > std::pair(entry->named, entry->called))
      entry = &piece;
    Function::Range range{Pc(piece.range.begin), Pc(piece.range.end)};
    added.ranges.push_back(range);
    pieces_.push_back({range, number});
  }
  added.entry = Pc(entry->range.begin);
  added.name = entry->name;

  FlowGraph flow = graphs.with_exits(function);
  if (flow.unknown_targets > 0) {
    diagnostics.add(
        "unknown-branch-target", Severity::kLoss, flow.unknown_targets,
        "branches to code that did not run and is in no file: taken to leave the function");
  }
  for (WaitLoop& loop : find_wait_loops(flow, discovery.map(), decoder)) {
    loop.function = number;
    wait_loops_.push_back(std::move(loop));
  }
  auto dominators = post_dominators(flow.graph);
  for (std::uint32_t v = 0; v < flow.blocks.size(); ++v) {
    if (!flow.blocks[v].branch) continue;
    Special branch{
        .pc = Pc(flow.blocks[v].last), .post_dominator = kNoPostDominator, .branch = true};
    if (dominators[v] != flow.graph.exit()) {
      branch.post_dominator = Pc(flow.blocks[dominators[v]].begin);
      specials_.push_back({.pc = branch.post_dominator, .joins = true});
    }
    specials_.push_back(branch);
  }
}

void ControlFlow::finish() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.range.begin < b.range.begin; });
  std::sort(specials_.begin(), specials_.end(),
            [](const Special& a, const Special& b) { return a.pc < b.pc; });
  std::size_t kept = 0;
  for (const Special& special : specials_) {
    if (kept > 0 && specials_[kept - 1].pc == special.pc) {
      Special& same = specials_[kept - 1];
      if (special.branch) same.branch = true, same.post_dominator = special.post_dominator;
      same.joins = same.joins || special.joins;
    } else {
      specials_[kept++] = special;
    }
  }
  specials_.resize(kept);
}

ControlFlow::Point ControlFlow::at(Pc pc) const {
  Point point;
  auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), pc,
                       [](Pc at, const Piece& candidate) { return at < candidate.range.begin; });
  if (piece != pieces_.begin() && pc < (--piece)->range.end) point.function = piece->function;
  auto special =
      std::lower_bound(specials_.begin(), specials_.end(), pc,
                       [](const Special& candidate, Pc at) { return candidate.pc < at; });
  if (special != specials_.end() && special->pc == pc) {
    point.post_dominator = special->post_dominator;
    point.branch = special->branch;
    point.joins = special->joins;
  }
  return point;
}

}  // namespace svd
