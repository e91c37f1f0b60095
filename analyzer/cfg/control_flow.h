// SPDX-License-Identifier: Apache-2.0
//
// The static control flow of everything that a trace executed: where the region that a branch opens
// ends, which is what dynamic control dependence needs. It is computed once, for every function of
// which the trace has an instruction; afterwards nothing changes, any number of threads may ask,
// and neither the reader nor the files are needed any more. Abstract blocks are left out: their
// statements name what controls them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cfg/wait_loops.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// The region ends only when the function returns. No instruction has this address.
inline constexpr Pc kNoPostDominator{std::numeric_limits<std::uint64_t>::max()};
inline constexpr std::uint32_t kNoFunction = std::numeric_limits<std::uint32_t>::max();

class Discovery;
class FlowGraphs;

class ControlFlow {
 public:
  // Reads the code of the trace's modules from their files where the build-ids agree (elsewhere
  // only the executed blocks are known: a branch to what is not in them leads out of the function),
  // and the targets of indirect jumps and calls from one scan without addresses.
  static ControlFlow of(const TraceReader& trace, Diagnostics& diagnostics);

  // What matters at one instruction.
  struct Point {
    Pc post_dominator{};  // of a branch: the instruction that ends its region, or kNoPostDominator
    bool branch = false;  // opens a region: a conditional jump, or an indirect one with several
                          // targets
    bool joins = false;   // some branch's post_dominator is this very instruction
    std::uint32_t function = kNoFunction;  // index into functions()
  };
  // Logarithmic: meant to be called once for each static instruction.
  Point at(Pc pc) const;

  // A piece of code that is entered by calls, with all pieces that are reached from it by jumps
  // (foo.cold, …).
  struct Function {
    Pc entry{};
    std::string name{};  // as in the symbol table; empty where there is none
    struct Range {
      Pc begin{};
      Pc end{};
    };
    std::vector<Range> ranges{};  // ascending; that of the entry is among them
    bool noreturn = false;        // no path leads to a return
  };
  std::span<const Function> functions() const { return functions_; }
  std::span<const WaitLoop> wait_loops() const { return wait_loops_; }

 private:
  struct Piece {
    Function::Range range{};
    std::uint32_t function = kNoFunction;
  };
  struct Special {
    Pc pc{};
    Pc post_dominator{};
    bool branch = false;
    bool joins = false;
  };

  void add_function(const Discovery& discovery, const FlowGraphs& graphs, std::uint32_t function,
                    const Decoder& decoder, Diagnostics& diagnostics);
  void finish();

  std::vector<Function> functions_;
  std::vector<WaitLoop> wait_loops_;
  std::vector<Piece> pieces_;      // the functions' ranges, ascending
  std::vector<Special> specials_;  // the instructions that are branches or joins, ascending
};

// Made when it is first asked for.
class LazyControlFlow {
 public:
  // Both must outlive it.
  LazyControlFlow(const TraceReader& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics) {}

  const ControlFlow& get() {
    if (!flow_) flow_ = ControlFlow::of(trace_, diagnostics_);
    return *flow_;
  }

 private:
  const TraceReader& trace_;
  Diagnostics& diagnostics_;
  std::optional<ControlFlow> flow_;
};

}  // namespace svd
