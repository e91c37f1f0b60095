// SPDX-License-Identifier: Apache-2.0
//
// Dynamic control dependence: of each executed instruction the instance that decided that it ran.
// Fed with a run in its total order. Its state can be copied and continued from, so that any chunk
// can be looked at alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "cfg/control_flow.h"
#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"

namespace svd {

// "Nothing decided": the first instructions of a trace's first thread.
inline constexpr Seq kNoParent{std::numeric_limits<std::uint64_t>::max()};

// Calls that are active in a thread, outermost first. Of more than were asked for the middle ones
// are left out.
struct CallStack {
  std::vector<Seq> calls{};
  std::size_t left_out = 0;
  std::size_t outer = 0;  // that stand before those left out
  friend bool operator==(const CallStack&, const CallStack&) = default;
};
inline constexpr std::size_t kAllCalls = std::numeric_limits<std::size_t>::max();

class ControlTracker {
 public:
  ControlTracker(const CodeTable& code, const ControlFlow& flow) : code_(&code), flow_(&flow) {}

  // For abstract traces, whose statements name what controls them.
  void set_statements(std::span<const Statement> statements) { statements_ = statements; }

  void event(const Event& event);
  // Others mean nothing to it.
  static constexpr auto kEvents = EventKinds::of<ThreadCreate, Signal, SignalReturn>();

  // Calls segment(first step, parent) for each stretch of the execution that has one parent, in
  // order; the first one begins at the part's first step. The parent is a branch of the same
  // activation, else the call that made the activation, else what created the thread.
  template <class F>
  void exec(const Exec& exec, F&& segment);

  // Of each instruction: whether it ran and was not always the restore of a register that the same
  // activation had saved to that place. Filled while running when asked for.
  void collect_restores(std::vector<bool>* failed) { failed_restores_ = failed; }

  // Calls f(Seq) for every instance that can still be the parent of one that has not run yet, some
  // more than once.
  template <class F>
  void each_open(F&& f) const {
    for (auto [child, seq] : spawns_) f(seq);
    for (const Thread& thread : threads_) {
      f(thread.last);
      for (const Region& region : thread.regions) f(region.branch);
      for (auto [statement, seq] : thread.statements) f(seq);
    }
  }

  // Tail calls are none. `most` is even, or all.
  CallStack call_stack(ThreadId thread, std::size_t most) const;

 private:
  struct Region {
    Seq branch{};
    Pc end{};
  };
  // The end of the outermost region of an activation, which is there as long as it: of what no
  // branch of the activation decided, the call or the last tail call did. No program has code
  // there.
  static constexpr Pc kOfFrame{std::numeric_limits<std::uint64_t>::max() - 1};
  struct Save {
    std::uint64_t address = 0;
    Reg reg{};
  };
  struct Frame {
    std::uint64_t slot = 0;  // where the return address is; frames deeper in have lower ones
    Seq call{};              // what made it
    std::uint32_t function = kNoFunction;  // also when nothing of it has run yet
    std::uint32_t first_region = 0;
    std::uint32_t first_save = 0;
    bool handler = false;  // of a signal: what is below cannot be told by addresses
  };
  struct Thread {
    std::vector<Frame> frames;
    std::vector<Region> regions;
    std::vector<Save> saves;
    std::unordered_map<std::uint32_t, Seq> statements;  // abstract: the last instance of each
    Seq last = kNoParent;                               // the last instruction
  };

  Thread& thread(ThreadId id) {
    if (recent_id_ == id.value && !threads_.empty()) return threads_[recent_index_];
    return find_thread(id);
  }
  Thread& find_thread(ThreadId id);
  const Step& first_step(const Exec& exec) const {
    return code_->block(exec.shape->id).steps[exec.shape->part.first];
  }
  template <class F>
  void statements(const Exec& exec, Thread& state, F& segment);
  template <class F>
  void plain(const Exec& exec, const BlockControl& block, Thread& state, F& segment);
  template <class F>
  void instructions(const Exec& exec, const ControlOp* op, Thread& state, F& segment);
  void enter(Thread& thread, std::uint32_t function, const Exec& exec) {
    std::uint32_t& before = thread.frames.back().function;
    if (function == kNoFunction || before == kNoFunction)
      before = function;
    else
      enter_by_no_call(thread, function, first_step(exec).pc);
  }
  void enter_by_no_call(Thread& thread, std::uint32_t function, Pc pc);
  void pop_to(Thread& thread, std::size_t frames);
  void call(Thread& thread, std::uint64_t slot, Seq seq);
  void leave(Thread& thread, std::uint64_t slot);
  void frame_access(Thread& thread, const ControlOp& op, std::uint64_t address);
  Seq abstract_parent(const Thread& thread, StatementId statement) const;

  void begin_frame(Thread& thread, const Frame& frame) {
    thread.frames.push_back(frame);
    thread.frames.back().first_region = static_cast<std::uint32_t>(thread.regions.size());
    thread.frames.back().first_save = static_cast<std::uint32_t>(thread.saves.size());
    thread.regions.push_back({frame.call, kOfFrame});
  }
  static Seq parent(const Thread& thread) { return thread.regions.back().branch; }
  // All that end there: where control came in by no call or return they do not end in the order of
  // a stack.
  static void join(Thread& thread, Pc pc) {
    auto outermost = thread.regions.begin() + thread.frames.back().first_region;
    auto end = thread.regions.end();
    while (end - 1 != outermost && (end - 1)->end == pc) --end;
    auto kept = end;
    for (auto region = end; --region != outermost;)
      if (region->end == pc) kept = std::move(region + 1, kept, region);
    thread.regions.erase(kept, thread.regions.end());
  }
  [[gnu::always_inline]] static void open(Thread& thread, Seq seq, Pc end) {
    Region& innermost = thread.regions.back();
    if (innermost.end == end)
      innermost.branch = seq;
    else
      thread.regions.push_back({seq, end});
  }

  const CodeTable* code_;
  const ControlFlow* flow_;
  std::vector<bool>* failed_restores_ = nullptr;
  std::unordered_map<std::uint32_t, Seq> spawns_;  // what created a thread that has not run yet
  std::unordered_map<std::uint32_t, std::uint32_t> index_;
  std::vector<Thread> threads_;
  std::uint32_t recent_id_ = 0;
  std::uint32_t recent_index_ = 0;
  std::span<const Statement> statements_;
};

template <class F>
void ControlTracker::exec(const Exec& exec, F&& segment) {
  const Part& part = exec.shape->part;
  const BlockControl& block = code_->control(exec.shape->id);
  Thread& state = thread(exec.thread);
  if (part.first >= block.steps) [[unlikely]] {
    if (code_->block(exec.shape->id).abstract)
      statements(exec, state, segment);
    else  // a block that was lost
      segment(part.first, parent(state));
  } else {
    std::uint32_t function = part.first == 0 ? block.function : first_step(exec).function;
    if (state.frames.back().function != function) enter(state, function, exec);
    if (block.plain && part.steps() == block.steps)
      plain(exec, block, state, segment);
    else
      instructions(exec, code_->ops(block), state, segment);
  }
  state.last = exec.end() - 1;
}

// Joins stand before the parent is told, all else after.
template <class F>
[[gnu::always_inline]] inline void ControlTracker::plain(const Exec& exec,
                                                         const BlockControl& block, Thread& state,
                                                         F& segment) {
  if (block.joins) join(state, block.begin);
  segment(std::uint16_t{0}, parent(state));
  if (block.branches) open(state, exec.end() - 1, block.end);
}

template <class F>
void ControlTracker::statements(const Exec& exec, Thread& state, F& segment) {
  const std::vector<Step>& steps = code_->block(exec.shape->id).steps;
  const Part& part = exec.shape->part;
  for (std::uint16_t i = part.first; i < part.end; ++i) {
    segment(i, abstract_parent(state, steps[i].statement));
    state.statements[steps[i].statement.value] = exec.seq + (i - part.first);
  }
}

template <class F>
void ControlTracker::instructions(const Exec& exec, const ControlOp* op, Thread& state,
                                  F& segment) {
  const Part& part = exec.shape->part;
  while (op->step < part.first) ++op;
  if (op->step == part.first && op->kind == ControlOp::Kind::kJoin) join(state, (op++)->end);
  segment(part.first, parent(state));
  for (; op->step < part.end; ++op) {
    Seq seq = exec.seq + static_cast<std::uint64_t>(op->step - part.first);
    if (op->kind == ControlOp::Kind::kBranch) {
      open(state, seq, op->end);
      if (op->step + 1 < part.end) segment(static_cast<std::uint16_t>(op->step + 1), seq);
    } else if (op->kind == ControlOp::Kind::kJoin) {
      join(state, op->end);
      segment(op->step, parent(state));
    } else if (op->slot >= part.first_slot && op->slot < part.end_slot &&
               exec.addresses != nullptr) {
      std::uint64_t address = exec.addresses[op->slot - part.first_slot];
      if (op->kind == ControlOp::Kind::kCall)
        call(state, address, seq);
      else if (op->kind == ControlOp::Kind::kReturn)
        leave(state, address);
      else if (failed_restores_ != nullptr)
        frame_access(state, *op, address);
    }
  }
}

}  // namespace svd
