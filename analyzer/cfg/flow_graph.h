// SPDX-License-Identifier: Apache-2.0
//
// The control flow graph of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "cfg/discovery.h"
#include "cfg/post_dominators.h"

namespace svd {

struct BasicBlock {
  Address begin = 0;
  Address last = 0;      // its last instruction
  bool branch = false;   // which has several successors
  bool root = false;     // can be entered otherwise than from other blocks
  bool returns = false;  // leaves the function, and the caller, as far as known, goes on
};

struct FlowGraph {
  std::vector<BasicBlock> blocks{};  // the vertices, ascending
  BlockGraph graph{};
  std::vector<std::uint32_t> callees{};  // functions, some of them several times
  std::uint32_t unknown_targets = 0;     // branches to where no code is known
};

// Makes the graphs of functions, as long as the Discovery lives. Knows which functions do not
// return: calls of them end a block.
class FlowGraphs {
 public:
  // Finds out which functions do not return: those known by name, and those from whose beginnings
  // no way leads to a return, as a consequence.
  explicit FlowGraphs(const Discovery& discovery);

  FlowGraph of(std::uint32_t function) const;
  // The same with an exit from each endless loop, as post_dominators() needs it: an empty block
  // more in front of its head.
  FlowGraph with_exits(std::uint32_t function) const;
  bool noreturn(std::uint32_t function) const { return noreturn_[function]; }
  // The pieces of a function, ascending.
  std::span<const std::uint32_t> pieces(std::uint32_t function) const {
    return pieces_.of(function);
  }

 private:
  class Builder;
  void infer();

  const Discovery& discovery_;
  BlockGraph pieces_;  // of each function
  std::vector<bool> noreturn_;
};

}  // namespace svd
