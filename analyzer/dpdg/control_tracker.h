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
      for (const Frame& frame : thread.frames) f(frame.parent);
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
  struct Save {
    std::uint64_t address = 0;
    Reg reg{};
  };
  struct Frame {
    std::uint64_t slot = 0;  // where the return address is; frames deeper in have lower ones
    Seq call{};              // what made it
    Seq parent{};            // of what no branch of it decided: the call, or the last tail call
    std::uint32_t function = kNoFunction;
    std::uint32_t first_region = 0;
    std::uint32_t first_save = 0;
    bool fresh = true;     // nothing of it has run yet
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
    if (recent_id_ == id.value && recent_index_ < threads_.size()) return threads_[recent_index_];
    return find_thread(id);
  }
  Thread& find_thread(ThreadId id);
  void enter(Thread& thread, std::uint32_t function, Pc pc);
  void pop_to(Thread& thread, std::size_t frames);
  void call(Thread& thread, std::uint64_t slot, Seq seq);
  void leave(Thread& thread, std::uint64_t slot);
  void frame_access(Thread& thread, const Step& step, std::uint64_t address);
  Seq abstract_parent(const Thread& thread, StatementId statement) const;

  static Seq parent(const Thread& thread) {
    const Frame& frame = thread.frames.back();
    return thread.regions.size() > frame.first_region ? thread.regions.back().branch : frame.parent;
  }
  // All that end there: where control came in by no call or return they do not end in the order of
  // a stack.
  static void join(Thread& thread, Pc pc) {
    auto first = thread.regions.begin() + thread.frames.back().first_region;
    thread.regions.erase(std::remove_if(first, thread.regions.end(),
                                        [pc](const Region& region) { return region.end == pc; }),
                         thread.regions.end());
  }
  static void open(Thread& thread, Seq seq, Pc end) {
    const Frame& frame = thread.frames.back();
    if (thread.regions.size() > frame.first_region && thread.regions.back().end == end)
      thread.regions.back().branch = seq;
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
  std::uint32_t recent_index_ = std::numeric_limits<std::uint32_t>::max();
  std::span<const Statement> statements_;
};

template <class F>
void ControlTracker::exec(const Exec& exec, F&& segment) {
  const CodeBlock& block = code_->block(exec.shape->id);
  const Part& part = exec.shape->part;
  Thread& state = thread(exec.thread);
  if (block.abstract) {
    for (std::uint16_t i = part.first; i < part.end; ++i) {
      Seq seq = exec.seq + static_cast<std::uint64_t>(i - part.first);
      const Step& step = block.steps[i];
      segment(i, abstract_parent(state, step.statement));
      state.statements[step.statement.value] = seq;
    }
    state.last = exec.end() - 1;
    return;
  }
  if (part.first >= block.steps.size()) {  // a block that was lost
    segment(part.first, parent(state));
    state.last = exec.end() - 1;
    return;
  }
  const Step& first = block.steps[part.first];
  Frame& top = state.frames.back();
  if (top.fresh) {
    top.function = first.function;
    top.fresh = false;
  } else if (top.function != first.function) {
    enter(state, first.function, first.pc);
  }
  // Joins stand before the parent is told, all else after.
  if (first.joins) join(state, first.pc);
  segment(part.first, parent(state));
  for (std::uint16_t i : block.control) {
    if (i < part.first) continue;
    if (i >= part.end) break;
    const Step& step = block.steps[i];
    if (step.joins && i > part.first) {
      join(state, step.pc);
      segment(i, parent(state));
    }
    Seq seq = exec.seq + static_cast<std::uint64_t>(i - part.first);
    if (step.branch) {
      open(state, seq, step.post_dominator);
      if (i + 1 < part.end) segment(static_cast<std::uint16_t>(i + 1), parent(state));
    }
    if (step.end_slot == step.first_slot || step.end_slot > part.end_slot ||
        step.end_slot <= part.first_slot || exec.addresses == nullptr)
      continue;
    // The stack access of a call is its last one; returns and saves have only one.
    std::uint64_t address = exec.addresses[step.end_slot - 1 - part.first_slot];
    if (step.flow == Flow::kCall || step.flow == Flow::kIndirectCall) {
      call(state, address, seq);
    } else if (step.flow == Flow::kReturn) {
      leave(state, address);
    } else if (step.saves || step.may_restore) {
      frame_access(state, step, address);
    }
  }
  state.last = exec.end() - 1;
}

}  // namespace svd
