// SPDX-License-Identifier: Apache-2.0
//
// One forward walk over a run that knows of every register, every byte of private memory and every
// open branch which units it follows from. What is shared memory, and what happens there, a
// SharedMemory says; it begins units and merges them.
//
//     load of shared memory    a unit of its own, and what the address followed from
//     load of private memory   what was stored there, and what the address followed from
//     computation              the union of what its operands followed from
//     store to private memory  its value's set is kept for the bytes
//     store to shared memory   SharedMemory merges the units of the value
//     branch                   kept aside: conditions are asked about, and never flow
//
// The stack pointer, and frame pointers made of it, follow from nothing. What a function saves and
// restores comes back as it was, because memory is exact to the byte. But xsave and xrstor are one
// instruction each: what is restored by one follows from all that was saved. Not so how is rounded
// (mxcsr), which follows from nothing: by it all later calculations would, after the first binding
// of a function by the linker.
#pragma once

#include <utility>
#include <vector>

#include "cu/control_stack.h"
#include "cu/flow_plan.h"
#include "cu/tag_sets.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "svd/trace/chunk.h"

namespace svd {

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  // Whether the access, which is the next one of the execution, is to shared memory. It has not
  // happened yet.
  virtual bool shared(Seq seq, bool write, Addr address, std::uint64_t size) = 0;
  // What the address followed from was used to load: of an access to shared memory before read().
  virtual void address(Seq seq, TagSet set) = 0;
  // The access that was said to be shared; the unit that begins with it.
  virtual UnitMember read(TagSet address) = 0;
  // The access that was said to be shared.
  virtual void write(TagSet value, TagSet address) = 0;
  // Where control goes next was decided by this.
  virtual void branch(Seq seq, TagSet condition) = 0;
};

class ValueFlow {
 public:
  // All must outlive it; `threads` as they are counted by the caller.
  ValueFlow(const CodeTable& code, ControlTracker tracker, std::size_t threads, bool abstract,
            Units& units)
      : code_(code), tracker_(std::move(tracker)), plans_(code), sets_(units) {
    for (std::size_t i = 0; i < threads; ++i)
      threads_.emplace_back(plans_.values(), ControlStack(abstract));
  }

  // `any_shared`: whether shared() may say so of a load of the execution.
  void exec(const Exec& exec, std::size_t thread, bool any_shared, SharedMemory& shared);
  void event(const Event& event, std::size_t thread);

  const TagSets& sets() const { return sets_; }
  // What decided that the thread is where it is.
  const ControlStack& control(std::size_t thread) const { return threads_[thread].control; }

 private:
  struct Thread {
    Thread(std::size_t count, ControlStack stack) : values(count), control(std::move(stack)) {}
    std::vector<TagSet> values;  // of registers, and what plans make
    ControlStack control;
  };

  // What matters of a block when nothing that it uses follows from anything.
  struct Outline {
    bool made = false;
    std::vector<Cell> uses;  // of what was there before the block
    std::vector<Cell> defs;
    std::vector<std::uint16_t> branches;
  };
  const Outline& outline(BlockId id);
  bool is_whole(const Exec& exec) const;
  bool follows_from_nothing(const Exec& exec, const Thread& state, const Outline& outline) const;
  void pass(const Exec& exec, Thread& state, const Outline& outline);
  void come_to(std::uint16_t step, Thread& state);
  void run(std::span<const FlowOp> plan, const Exec& exec, std::size_t thread, bool any_shared,
           SharedMemory& shared);
  struct Place {
    Addr address{};
    std::uint64_t size = 0;  // 0: the access did not happen
  };
  Place place(const FlowOp& op, const Exec& exec);
  void load(const FlowOp& op, const Exec& exec, std::size_t thread, bool any_shared,
            SharedMemory& shared);
  void store(const FlowOp& op, const Exec& exec, std::size_t thread, bool any_shared,
             SharedMemory& shared);
  void decide(const FlowOp& op, const Exec& exec, Thread& state, SharedMemory& shared);
  static Seq seq_of(const FlowOp& op, const Exec& exec) {
    return exec.seq + static_cast<std::uint64_t>(op.step - exec.shape->part.first);
  }
  void keep(Addr address, std::uint64_t size, TagSet set);
  void forget_sets();

  const CodeTable& code_;
  ControlTracker tracker_;
  FlowPlans plans_;
  TagSets sets_;
  std::vector<Thread> threads_;
  ByteShadow<TagSet> private_;
  std::vector<Outline> outlines_;  // by block
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
  std::size_t next_segment_ = 0;
  bool met_range_ = false;  // of the instruction at hand
};

}  // namespace svd
