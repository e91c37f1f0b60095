// SPDX-License-Identifier: Apache-2.0
//
// Conflict serializability of units of execution: the graph that has an arc from one unit to
// another when something in the first had to come before something in the second, and its cycles.
// Units are numbered by whoever feeds the graph: declared atomic blocks, events outside of them,
// computational units. conflict_graph.cc has the definitions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "detectors/few.h"
#include "detectors/long_list.h"
#include "detectors/shadow.h"
#include "detectors/touch.h"

namespace svd {

using UnitId = Name<struct UnitTag, std::uint32_t>;

class ConflictGraph {
 public:
  // An arc, with the moments of one pair of events that makes it.
  struct Arc {
    UnitId from{}, to{};
    Moment first{}, second{};
  };

  // A new unit, with an arc from the unit before it in its thread (program order).
  UnitId add(ThreadIndex thread, Moment now);

  // `unit` is the newest of the access's thread.
  void access(UnitId unit, const Touch& access);
  void release(UnitId unit, ThreadIndex thread, ChannelId channel, Moment now);
  void acquire(UnitId unit, ChannelId channel, Moment now);
  void fresh(Addr address, std::uint64_t size) { shadow_.clear(address, size); }

  std::size_t units() const { return units_; }
  std::size_t arcs() const { return arcs_.size(); }

  // For each strongly connected set of two or more units a shortest cycle through its first arc
  // that goes back; none when the run is conflict serializable.
  std::vector<std::vector<Arc>> cycles() const;

 private:
  struct Entry {
    std::uint64_t moment : 48 = 0;
    std::uint64_t thread : 16 = 0;
    UnitId unit{};
  };
  struct Cell {
    Entry write;
    Few<Entry> reads;  // since the write, the last one of each thread
  };
  struct Last {
    UnitId unit{};
    Moment moment{};
    ThreadIndex thread{};
  };

  void arc(UnitId from, UnitId to, Moment first, Moment second);
  // An arc goes back from the last of these units to the first.
  void tangle(UnitId first, UnitId last);
  void settle(UnitId newest);

  Shadow<Cell> shadow_;
  LongList<Arc> arcs_;
  // Units across which arcs go back, by the first one: the last one of those that hang together. No
  // unit is in two.
  std::map<UnitId, UnitId> tangles_;
  UnitId settled_{};                         // no arc goes back from here on to what is before
  std::vector<Last> last_;                   // by thread; moment 0: none
  std::vector<std::vector<Last>> releases_;  // by channel: the last one of each thread
  std::uint32_t units_ = 0;
};

}  // namespace svd
