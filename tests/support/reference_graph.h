// SPDX-License-Identifier: Apache-2.0
//
// The dependence graph of a run, plainly from the definitions that stand in dpdg/dependences.h and
// dpdg/control_tracker.cc: a map of all bytes, a map of all lanes of registers, a list of what each
// activation executed that is looked back along. Of the fast graph it uses only what has tests of
// its own: the decoder and the static control flow.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "dpdg/dependences.h"
#include "dpdg/program_model.h"

namespace svd::test {

// Of an arc through memory each byte is one.
struct PlainArc {
  ArcKind kind{};
  Seq use{};
  Seq def{};
  Addr byte{};
  friend auto operator<=>(const PlainArc&, const PlainArc&) = default;
};

// Of what stands before `end`: ascending, each once.
std::vector<PlainArc> reference_arcs(const TraceReader& trace, const ControlFlow& flow, Seq end);
std::vector<PlainArc> fast_arcs(const TraceReader& trace, const ProgramModel& model, Seq end);

// The first arcs that only one of them has, in words; empty when they are equal.
std::string difference(const std::vector<PlainArc>& fast, const std::vector<PlainArc>& reference);

}  // namespace svd::test
