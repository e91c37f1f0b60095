// SPDX-License-Identifier: Apache-2.0
#include "findings/stacks.h"

#include <algorithm>
#include <iterator>

namespace svd {

void Stacks::answer() {
  for (auto [seq, thread] : asked_) instances_.ask_stack(seq, thread);
  instances_.answer(diagnostics_);
  for (auto [seq, thread] : asked_)
    for (Seq call : instances_.stack(seq, thread).calls) instances_.ask(call);
  instances_.answer(diagnostics_);
}

std::vector<StackFrame> Stacks::at(Seq seq, ThreadId thread, Pc pc, Pc jumped_from) {
  std::vector<StackFrame> stack;
  auto add = [&](Pc at) {
    if (at.value == 0) return;
    std::vector<StackFrame> frames = places_.frames(at);
    std::move(frames.begin(), frames.end(), std::back_inserter(stack));
  };
  add(pc);
  add(jumped_from);
  const CallStack& active = instances_.stack(seq, thread);
  for (std::size_t i = active.calls.size(); i-- > 0;) {
    const InstanceFacts& call = instances_.facts(active.calls[i]);
    // What created the thread is no call of it.
    if (call.step == nullptr || call.instance.thread != thread) continue;
    add(call.step->pc);
    if (i == active.outer && !stack.empty()) stack.back().left_out = active.left_out;
  }
  return stack;
}

void stand_in_own_code(const std::vector<StackFrame>& stack, CodePlace& place) {
  if (auto own = first_own(stack); own != stack.end()) place = own->place;
}

}  // namespace svd
