// SPDX-License-Identifier: Apache-2.0
//
// What single instances did, looked up in the trace: for the few that are shown to people.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dpdg/code_table.h"
#include "dpdg/control_index.h"
#include "dpdg/instance.h"
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
  // The calls that are active in the thread when the run comes to the instruction: so many at most,
  // because recursion can be deep.
  static constexpr std::size_t kMostCalls = 64;
  void ask_stack(Seq seq, ThreadId thread, std::size_t most = kMostCalls) {
    Stack& asked = stacks_[{seq, thread}];
    if (most > asked.most) asked = {most, {}};
  }
  void answer(Diagnostics& diagnostics);

  // What was asked and answered.
  const InstanceFacts& facts(Seq seq) const { return facts_.at(seq); }
  const CallStack& stack(Seq seq, ThreadId thread) const {
    return *stacks_.at({seq, thread}).calls;
  }

 private:
  struct Stack {
    std::size_t most = 0;
    std::optional<CallStack> calls{};  // when they are known
  };
  const TraceReader& trace_;
  const CodeTable& code_;
  const ControlIndex& control_;
  std::map<Seq, InstanceFacts> facts_;
  std::map<std::pair<Seq, ThreadId>, Stack> stacks_;
};

}  // namespace svd
