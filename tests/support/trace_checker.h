// SPDX-License-Identifier: Apache-2.0
//
// Proves from a recorded trace alone that nothing is missing in it, as far as that can be proved:
//
// - Flow: every block of a thread is one that the block before it can go to (flow_checker.h).
// - Values: every load reads what the last recorded store or kernel write to those bytes left
//   there (value_checker.h). What cannot be checked is counted by the reason.
// - Counts: instructions, loads and stores, to be compared with those of another tool.
//
// One walk, chunk by chunk; memory is bounded by CheckOptions::shadow_pages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "svd/trace/reader.h"

namespace svd::test {

struct CheckOptions {
  // Pages of 4 KiB whose bytes are remembered, at 8 KiB each; beyond that all are forgotten, and
  // told as "forgotten".
  std::size_t shadow_pages = std::size_t{1} << 15;
  // Instructions in modules whose path contains this are not counted.
  std::string uncounted_module = "vgpreload_svd";
  std::size_t most_findings = 10;
};

struct TraceCheck {
  struct Counts {
    std::uint64_t instructions = 0;
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
    std::uint64_t locked = 0;     // stores of instructions that read and write indivisibly
    std::uint64_t odd_loads = 0;  // of them: of sizes that Valgrind leaves to helpers (x87, state)
    std::uint64_t odd_stores = 0;
  } counts;

  std::uint64_t transitions = 0;           // from a block to the next of its thread
  std::uint64_t indirect_transitions = 0;  // of them: the target is not known statically
  std::uint64_t illegal_transitions = 0;

  std::uint64_t loads = 0;                             // with a value, all of them
  std::uint64_t loads_equal = 0;                       // all bytes known, and what they should be
  std::uint64_t loads_wrong = 0;                       // some byte is known to be something else
  std::map<std::string, std::uint64_t> loads_unknown;  // by what is not known of their bytes

  std::vector<std::string> findings;  // the first wrong things, in words

  // Of the loads whose bytes are all known; 1 if there are none.
  double share_equal() const;
  // Everything, in a few lines.
  std::string describe() const;
};

// The trace must decode without losses: what is not readable is a finding.
TraceCheck check_trace(const TraceReader& trace, const CheckOptions& options = {});

}  // namespace svd::test
