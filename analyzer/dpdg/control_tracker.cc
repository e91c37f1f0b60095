// SPDX-License-Identifier: Apache-2.0
//
// Definition (Xin and Zhang, ISSTA 2007; the online form of Ferrante's): instance i is control
// dependent on the latest branch instance b before it in the same activation whose region, which
// ends at b's immediate post-dominator, is still open at i.
//
//     T1  if (ready)          b     opens a region that ends at "done"
//     T1    n = count;        parent b
//     T2  count = 0;                another thread's stacks are apart
//     T1    f(n);             parent b; what f does outside of its own branches: parent this call
//     T1  done:               the region is closed: parent is what was before
//
// Each thread has a stack of activations, each of these a stack of open regions. A branch that ends
// where the innermost region ends takes its place (a loop's stack does not grow). Activations are
// told apart by where their return address lies: a return to a place pops everything above that
// place, and a call at a place pops what can no longer be alive, so longjmp and exceptions mend
// themselves at the next call or return at the latest, and at once when they land in a function
// that is active. Cost: constant for each block.
//
// Unsound: programs that switch stacks by hand (makecontext) lose activations when a return address
// lies higher on the other stack, and take the call that is then innermost as the parent; code that
// longjmp lands in keeps regions that were open when the landing function made its call.
#include "dpdg/control_tracker.h"

#include <algorithm>

namespace svd {
namespace {

constexpr std::uint64_t kOutermost = std::numeric_limits<std::uint64_t>::max();

}  // namespace

ControlTracker::Thread& ControlTracker::find_thread(ThreadId id) {
  auto [entry, fresh] = index_.try_emplace(id.value, static_cast<std::uint32_t>(threads_.size()));
  if (fresh) {
    auto spawn = spawns_.find(id.value);
    Seq made = spawn == spawns_.end() ? kNoParent : spawn->second;
    begin_frame(threads_.emplace_back(), {.slot = kOutermost, .call = made});
  }
  recent_id_ = id.value;
  recent_index_ = entry->second;
  return threads_[recent_index_];
}

void ControlTracker::event(const Event& event) {
  if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
    spawns_[create->child.value] = thread(event.thread).last;
  } else if (const auto* signal = std::get_if<Signal>(&event.body)) {
    if (signal->handler.value == 0 || signal->fatal) return;
    Thread& state = thread(event.thread);
    call(state, 0, state.last);
    state.frames.back().handler = true;
  } else if (std::holds_alternative<SignalReturn>(event.body)) {
    Thread& state = thread(event.thread);
    for (std::size_t i = state.frames.size(); i-- > 1;)
      if (state.frames[i].handler) return pop_to(state, i);
  }
}

// Leaves the first `frames` activations.
void ControlTracker::pop_to(Thread& thread, std::size_t frames) {
  if (frames >= thread.frames.size()) return;
  auto cut = [](auto& all, std::size_t size) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(size), all.end());
  };
  cut(thread.regions, thread.frames[frames].first_region);
  cut(thread.saves, thread.frames[frames].first_save);
  cut(thread.frames, frames);
}

void ControlTracker::call(Thread& thread, std::uint64_t slot, Seq seq) {
  std::size_t alive = thread.frames.size();
  while (slot != 0 && alive > 1 && !thread.frames[alive - 1].handler &&
         thread.frames[alive - 1].slot <= slot)
    --alive;
  pop_to(thread, alive);
  begin_frame(thread, {.slot = slot, .call = seq});
}

void ControlTracker::leave(Thread& thread, std::uint64_t slot) {
  for (std::size_t i = thread.frames.size(); i-- > 1;)
    if (thread.frames[i].slot == slot) return pop_to(thread, i);
  std::size_t alive = thread.frames.size();
  while (alive > 1 && !thread.frames[alive - 1].handler && thread.frames[alive - 1].slot < slot)
    --alive;
  pop_to(thread, alive);
}

// Control came into `function` by no call: a tail call, or back into an activation by longjmp or an
// exception, or something that cannot be told.
void ControlTracker::enter_by_no_call(Thread& thread, std::uint32_t function, Pc pc) {
  if (flow_->functions()[function].entry != pc) {  // no tail call
    for (std::size_t i = thread.frames.size(); i-- > 1;) {
      if (thread.frames[i].handler) break;
      if (thread.frames[i - 1].function != function) continue;
      pop_to(thread, i);
      return;
    }
  }
  Frame& frame = thread.frames.back();
  frame.function = function;
  thread.regions.resize(frame.first_region + 1);
  thread.regions.back().branch = thread.last;
}

void ControlTracker::frame_access(Thread& thread, const ControlOp& op, std::uint64_t address) {
  auto first = thread.saves.begin() + thread.frames.back().first_save;
  auto save = std::find_if(first, thread.saves.end(),
                           [address](const Save& s) { return s.address == address; });
  if (op.kind == ControlOp::Kind::kSave) {
    if (save == thread.saves.end())
      thread.saves.push_back({address, op.saved});
    else
      save->reg = op.saved;
  } else if (save == thread.saves.end() || save->reg != op.saved) {
    (*failed_restores_)[op.id.value] = true;
  }
}

Seq ControlTracker::abstract_parent(const Thread& thread, StatementId statement) const {
  Seq parent = kNoParent;
  if (statement.value >= statements_.size()) return parent;
  for (StatementId by : statements_[statement.value].controlled_by) {
    auto found = thread.statements.find(by.value);
    if (found != thread.statements.end() && (parent == kNoParent || found->second > parent))
      parent = found->second;
  }
  return parent;
}

CallStack ControlTracker::call_stack(ThreadId id, std::size_t most) const {
  CallStack stack;
  auto found = index_.find(id.value);
  if (found == index_.end()) return stack;
  const std::vector<Frame>& frames = threads_[found->second].frames;
  if (frames.size() > most) stack.left_out = frames.size() - most;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (stack.left_out != 0 && i == most / 2) {
      stack.outer = stack.calls.size();
      i += stack.left_out;
    }
    if (frames[i].call != kNoParent) stack.calls.push_back(frames[i].call);
  }
  return stack;
}

}  // namespace svd
