// SPDX-License-Identifier: Apache-2.0
//
// Whether each execution of a thread is one that its predecessor can go to, by the machine code:
// the target of a direct jump or call, the instruction behind any other, the same instruction for
// one that repeats, the rest of a block that was recorded in parts. Returns, indirect jumps and
// calls can go anywhere. A signal may come between, go to its handler and return to where it came.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "svd/trace/chunk.h"

namespace svd::test {

class FlowChecker {
 public:
  explicit FlowChecker(std::span<const Block> blocks);
  ~FlowChecker();
  FlowChecker(const FlowChecker&) = delete;
  FlowChecker& operator=(const FlowChecker&) = delete;

  // What is wrong with `exec` behind the one before it in its thread, if something is.
  std::optional<std::string> exec(const Exec& exec);
  void event(const Event& event);

  std::uint64_t transitions() const { return transitions_; }
  std::uint64_t indirect() const { return indirect_; }

 private:
  // Where the instruction at an index of a block can lead.
  struct Successors {
    bool known = false;     // these fields are filled
    bool anywhere = false;  // not known statically
    bool may_stop = false;  // a block can be left behind it although it goes on
    Pc next{};
    Pc target{};
  };
  struct Interruption {
    Pc pc{};
    Pc handler{};
    Successors before;
  };
  struct Thread {
    bool anywhere = true;  // at its start, behind a gap
    bool stopped = false;  // the last block was left where only a fault can
    bool signalled = false;
    Pc last{};
    BlockId block{};
    std::uint16_t end = 0;  // of the last part of `block`
    Successors successors;
    std::vector<Interruption> interruptions;
  };

  const Successors& successors(BlockId id, std::uint16_t instruction);
  Successors decode(const Block& block, std::uint16_t instruction) const;
  bool legal(const Thread& thread, Pc pc);

  std::span<const Block> blocks_;
  std::vector<std::vector<Successors>> known_;  // by block, by instruction
  std::unordered_map<ThreadId, Thread> threads_;
  csh capstone_ = 0;
  std::uint64_t transitions_ = 0;
  std::uint64_t indirect_ = 0;
};

}  // namespace svd::test
