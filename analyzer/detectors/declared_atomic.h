// SPDX-License-Identifier: Apache-2.0
//
// Blocks that the program's author, or the author of an imported log, declared atomic: whether the
// run is conflict serializable in them. Everything outside of a block is a unit of its own, so only
// traces that declare blocks are worth it.
#pragma once

#include <string_view>
#include <vector>

#include "detectors/conflict_graph.h"
#include "detectors/detector.h"

namespace svd {

class DeclaredAtomic final : public Detector {
 public:
  DeclaredAtomic(std::string_view name, std::size_t threads) : name_(name), threads_(threads) {}

  void acquire(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void release(ThreadIndex thread, ChannelId channel, EdgeKind kind, Moment now) override;
  void access(const Touch& access) override;
  void fresh(Addr address, std::uint64_t size) override { graph_.fresh(address, size); }
  void atomic_block(ThreadIndex thread, bool begins, Moment now) override;
  std::vector<RawFinding> findings() override;

  const ConflictGraph& graph() const { return graph_; }

 private:
  struct Thread {
    std::uint32_t depth = 0;  // of blocks; the outermost counts
    UnitId unit{};
    Moment moment{};  // of the last event outside of blocks
  };

  UnitId unit(ThreadIndex thread, Moment now);

  std::string_view name_;
  ConflictGraph graph_;
  std::vector<Thread> threads_;
  bool declared_ = false;
};

}  // namespace svd
