// SPDX-License-Identifier: Apache-2.0
//
// A detector is fed by the one walk of the trace (scan.h) and says at its end what it found. All
// detectors and what they are called stand in the table of table.h.
#pragma once

#include <string_view>
#include <vector>

#include "detectors/raw_finding.h"
#include "detectors/sync_model.h"
#include "detectors/touch.h"

namespace svd {

class Detector : public OrderListener {
 public:
  void acquire(ThreadIndex, ChannelId, EdgeKind) override {}
  void release(ThreadIndex, ChannelId, EdgeKind, Moment) override {}

  virtual void access(const Touch& access) = 0;
  // [address, address + size) is new memory from here on, whatever was there before.
  virtual void fresh(Addr address, std::uint64_t size) = 0;
  // A block that is declared atomic begins or ends in the thread.
  virtual void atomic_block(ThreadIndex, bool /*begins*/, Moment) {}

  virtual std::vector<RawFinding> findings() = 0;
};

}  // namespace svd
