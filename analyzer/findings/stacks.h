// SPDX-License-Identifier: Apache-2.0
//
// Which functions were active in a thread when it came to an instruction: its calls from the trace,
// and from debug information what was inlined there. Asked for together, because one chunk holds
// the answers to many questions.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "dpdg/instance_reader.h"
#include "findings/finding.h"
#include "findings/places.h"

namespace svd {

class Stacks {
 public:
  // All must outlive it.
  Stacks(InstanceReader& instances, Places& places, Diagnostics& diagnostics)
      : instances_(instances), places_(places), diagnostics_(diagnostics) {}

  void ask(Seq seq, ThreadId thread) { asked_.emplace(seq, thread); }
  void answer();

  // What was asked and answered, innermost first; `pc` is where the thread had come to, and
  // `jumped_from` a call in the place of a return by which it came there, each 0 where there is
  // none. Of deep ones calls in the middle are left out.
  std::vector<StackFrame> at(Seq seq, ThreadId thread, Pc pc, Pc jumped_from);

 private:
  InstanceReader& instances_;
  Places& places_;
  Diagnostics& diagnostics_;
  std::set<std::pair<Seq, ThreadId>> asked_;
};

// Tells a place by the innermost function of the program's own.
void stand_in_own_code(const std::vector<StackFrame>& stack, CodePlace& place);

}  // namespace svd
