// SPDX-License-Identifier: Apache-2.0
//
// What single instances did, looked up in the trace: for the few that are shown to people.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "dpdg/code_table.h"
#include "dpdg/control_index.h"
#include "slicer/slice.h"
#include "svd/trace/reader.h"

namespace svd {

struct InstanceFacts {
  Instance instance{};
  const Step* step = nullptr;            // null: no such instruction, or it was lost
  std::vector<MemoryAccess> accesses{};  // with values where the trace has them
};

// Collects questions and answers them all by decoding each chunk that is asked about once.
class InstanceReader {
 public:
  InstanceReader(const TraceReader& trace, const CodeTable& code, const ControlIndex& control)
      : trace_(trace), code_(code), control_(control) {}

  void ask(Seq seq) { facts_.try_emplace(seq); }
  // The active calls too.
  void ask_stack(Seq seq, ThreadId thread) { stacks_.try_emplace(seq, Stack{thread, {}}); }
  void answer(Diagnostics& diagnostics);

  // What was asked and answered.
  const InstanceFacts& facts(Seq seq) const { return facts_.at(seq); }
  // Outermost first.
  const std::vector<Seq>& stack(Seq seq) const { return *stacks_.at(seq).calls; }

 private:
  struct Stack {
    ThreadId thread;
    std::optional<std::vector<Seq>> calls{};  // when they are known
  };
  const TraceReader& trace_;
  const CodeTable& code_;
  const ControlIndex& control_;
  std::map<Seq, InstanceFacts> facts_;
  std::map<Seq, Stack> stacks_;
};

}  // namespace svd
