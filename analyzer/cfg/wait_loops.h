// SPDX-License-Identifier: Apache-2.0
//
// Loops that only wait. A loop waits by a branch that leaves it when what the branch decides by is,
// in every round, computed anew from memory and from what was there before the loop, and no
// instruction of the loop writes memory but its own frame:
//
//     loop:  pause                      and so does   again:  mov   flag(%rip), %eax
//            mov   0x28(%r15), %eax                           test  %eax, %eax
//            cmp   %eax, %ebx                                 je    again
//            jg    loop
//
// Nothing that the thread itself does can then end the loop by that branch: it leaves in its first
// round, or because of another thread. A counter that goes along (of rounds, for a time-out)
// changes nothing, as long as this branch does not look at it. What the loop calls is not looked
// into; whether that had effects, the run shows (detectors/waits.h).
//
// A compiler puts the first test in front of the loop: a guard is a branch that leads into the loop
// or to where the loop goes when it ends (or both leave the function), by the same load.
#pragma once

#include <cstdint>
#include <vector>

#include "cfg/code_map.h"
#include "svd/trace/types.h"

namespace svd {

class Decoder;
struct FlowGraph;

struct WaitLoop {
  struct Range {
    Pc begin{};
    Pc last{};  // instruction
  };
  std::uint32_t function = 0;   // index into ControlFlow::functions()
  std::vector<Range> blocks{};  // ascending
  std::vector<Pc> reads{};      // instructions whose loads decide when it ends, ascending
};

// Those of one function.
std::vector<WaitLoop> find_wait_loops(const FlowGraph& flow, const CodeMap& map,
                                      const Decoder& decoder);

}  // namespace svd
