// SPDX-License-Identifier: Apache-2.0
//
// The state of a walk that makes a forward slice; see forward.cc. Private to the room.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dpdg/block_plan.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/channels.h"
#include "dpdg/control_tracker.h"
#include "slicer/folds.h"
#include "slicer/forward.h"

namespace svd {

// The instance of the slice that wrote what is in a place; {} where none did.
struct Reach {
  Instance by{};  // thread 0: nothing
  float distance = 0;
  bool any() const { return by.thread.value != 0; }
  friend bool operator==(const Reach&, const Reach&) = default;
};

class ForwardWalk {
 public:
  ForwardWalk(const SliceInput& input, const ControlFlow& flow,
              const std::vector<Criterion>& criteria, const SliceOptions& options);

  void run(Diagnostics& diagnostics, const ProgressFunction& progress);
  void exec(const Exec& exec);
  void event(const Event& event);

  Slice take();

 private:
  // Of a register that was saved somewhere, by cell.
  struct Saved {
    std::array<Reach, kMostSaved> cells{};
    friend bool operator==(const Saved&, const Saved&) = default;
  };
  struct Decision {
    Reach reach{};
    bool call = false;
  };
  // What brings an instance into the slice: the nearest of all that it follows from.
  struct Hit {
    bool any = false;
    float distance = 0;
    Instance from{};
    Via via = Via::kValue;
  };
  struct Thread {
    std::vector<Reach> cells;
    Instance last{};  // its last instruction
    const Step* last_step = nullptr;
    Reach last_reach{};  // {} when it is not in the slice
  };
  struct RemoteReach {
    Reach from{};
    Addr at{};
    std::uint64_t length = 0;
  };
  struct Touched {
    Addr address{};
    std::uint64_t size = 0;
    const Slot* slot = nullptr;
  };

  Thread& thread(ThreadId id);
  void step(const Exec& exec, std::uint16_t index, Seq parent, Thread& thread);
  void begin_here(const Criterion& criterion, const Instance& me, Thread& thread, Hit& hit);
  void follow_decision(Seq parent, const Instance& me, Hit& hit) const;
  void follow_cells(const Step& step, const Instance& me, const Thread& thread, Hit& hit) const;
  void follow_memory(const Instance& me, Hit& hit);
  void follow(const Reach& reach, Via via, const Instance& me, Hit& hit) const;
  void read_memory(Addr address, std::uint64_t size, Via via, const Instance& me, Hit& hit);
  void set_memory(Addr address, std::uint64_t size, const Reach& reach);
  // Empty when the instance is not in the slice.
  Reach join(const Hit& hit, const Instance& me);
  // Of an instance of the slice.
  void note_distance(const Hit& hit, const Instance& me);
  void add_remote_reads(const Instance& me);
  void define(const Step& step, const Reach& reach, Thread& thread);
  void save(const Step& step, const Thread& thread);
  void restore(const Step& step, Thread& thread);
  void remember(const Step& step, const Reach& reach, bool decides);
  void forget_decisions();
  void kernel(const KernelAccess& access, Thread& thread);
  void system_call(std::uint32_t number, Thread& thread);
  void join_late(const Hit& hit, Thread& thread);
  bool same_line(const Instance& a, const Instance& b) const;

  const SliceInput& input_;
  SliceOptions options_;
  std::vector<Criterion> criteria_;  // by seq
  std::span<const Seq> faults_;      // that are to come
  std::size_t next_criterion_ = 0;
  ControlTracker tracker_;
  std::vector<std::pair<std::uint16_t, Seq>> segments_;  // of this execution: step, parent
  std::vector<Touched> touched_;                         // by this step
  std::vector<RemoteReach> remote_;                      // what it reads of other threads
  std::vector<Thread> threads_;
  ByteShadow<Reach> memory_;
  ByteShadow<Saved> saved_;
  Carried<Reach> carried_;
  std::unordered_map<std::uint64_t, Decision> decisions_;  // by seq: instances of the slice
  std::size_t most_decisions_;
  Slice slice_;
  std::vector<std::uint32_t> item_of_;  // by InstrId, plus 1
  Fold<RemoteRead> remote_reads_;
};

}  // namespace svd
