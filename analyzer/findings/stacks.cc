// SPDX-License-Identifier: Apache-2.0
#include "findings/stacks.h"

#include <algorithm>
#include <iterator>

namespace svd {
namespace {

constexpr std::size_t kMostCalls = 32;

}  // namespace

template <class F>
void Stacks::each_call(Seq seq, ThreadId thread, F&& f) const {
  const std::vector<Seq>& calls = instances_.stack(seq, thread);
  std::for_each_n(calls.rbegin(), std::min(calls.size(), kMostCalls), f);
}

void Stacks::answer() {
  for (auto [seq, thread] : asked_) instances_.ask_stack(seq, thread);
  instances_.answer(diagnostics_);
  for (auto [seq, thread] : asked_)
    each_call(seq, thread, [this](Seq call) { instances_.ask(call); });
  instances_.answer(diagnostics_);
}

std::vector<StackFrame> Stacks::at(Seq seq, ThreadId thread, Pc pc) {
  std::vector<StackFrame> stack;
  if (pc.value != 0) stack = places_.frames(pc);
  each_call(seq, thread, [&](Seq at) {
    const InstanceFacts& call = instances_.facts(at);
    // What created the thread is no call of it.
    if (call.step == nullptr || call.instance.thread != thread || call.step->pc.value == 0) return;
    std::vector<StackFrame> frames = places_.frames(call.step->pc);
    std::move(frames.begin(), frames.end(), std::back_inserter(stack));
  });
  return stack;
}

void stand_in_own_code(const std::vector<StackFrame>& stack, CodePlace& place) {
  auto own = first_own(stack);
  if (own == stack.end()) return;
  place.file = own->place.file;
  place.line = own->place.line;
  place.function = own->place.function;
  place.text = own->place.text;
}

}  // namespace svd
