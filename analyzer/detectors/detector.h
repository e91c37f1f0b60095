// SPDX-License-Identifier: Apache-2.0
//
// A detector is fed by the one walk of the trace (scan.h) and says at its end what it found. All
// detectors and what they are called stand in the table of table.h.
#pragma once

#include <string_view>
#include <vector>

#include "cfg/control_flow.h"
#include "detectors/accessors.h"
#include "detectors/code_names.h"
#include "detectors/raw_finding.h"
#include "detectors/rules.h"
#include "detectors/sync_model.h"
#include "detectors/touch.h"
#include "dpdg/code_table.h"
#include "svd/trace/chunk.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

// What a detector can look at before the walk begins.
struct Preparation {
  const TraceReader& trace;
  const Rules& rules;
  CodeNames& names;
  Diagnostics& diagnostics;
  LazyControlFlow& flow;
  LazyCodeTable& code;
  Accessors* accessors = nullptr;  // to be taken by one that needs_sharing(); null: nobody does
};

class Detector : public OrderListener {
 public:
  void acquire(ThreadIndex, ChannelId, EdgeKind, Moment) override {}
  void release(ThreadIndex, ChannelId, EdgeKind, Moment) override {}

  // Whether it looks at Touch::shared or at who accesses what, which takes another walk.
  virtual bool needs_sharing() const { return false; }
  // Before the walk; for those that need to know the whole run first.
  virtual void prepare(const Preparation&) {}

  // False: it only wants to see what executed, if even that.
  virtual bool wants_accesses() const { return true; }
  virtual void access(const Touch& access) = 0;
  // An access to it comes soon, as far as that is known: what it takes can be asked for. `shared`:
  // as in Touch.
  virtual void soon(Addr, bool /*shared*/) {}
  // [address, address + size) is new memory from here on, whatever was there before.
  virtual void fresh(Addr address, std::uint64_t size) = 0;
  // A block that is declared atomic begins or ends in the thread.
  virtual void atomic_block(ThreadIndex, bool /*begins*/, Moment) {}

  // Whether it also wants to see what executed: each execution after its accesses, each event
  // before what follows from it.
  virtual bool follows_execution() const { return false; }
  virtual void executed(const Exec&, ThreadIndex, Moment /*first*/) {}
  virtual void happened(const Event&, ThreadIndex) {}

  virtual std::vector<RawFinding> findings() = 0;
};

}  // namespace svd
