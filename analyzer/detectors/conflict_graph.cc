// SPDX-License-Identifier: Apache-2.0
//
// Definition. A run is conflict serializable when its units can be put one after the other without
// changing the order of any two events that conflict: events of one thread, accesses of two threads
// to the same bytes of which one writes, a release and a later acquisition (Eswaran et al., 1976).
// That is so exactly when the graph of units and conflicts has no cycle.
//
//     thread 1: begin … read x                  write x … end      unit 1
//     thread 2:                  write x                           unit 2
//
// has the arcs 1 -> 2 (read before write) and 2 -> 1 (write before write): not serializable.
//
// Algorithm. Only arcs between neighbours are made, the others follow: from the last write to a
// read; from the reads since the last write, or else from that write, to a write; from each unit to
// the next one of its thread. Then strongly connected components, and of each a shortest cycle.
//
// Units are numbered in the order of their beginnings, and only the newest unit of each thread does
// anything. So an arc that goes back, to an older unit, goes to one of these, and no arc will go
// back across a number below all of them. Where none has done so either, nothing on one side of the
// number is on a cycle with something on the other side: an arc across it is not kept. Only arcs
// between units that were nearly at one time are, as long as no thread stands still.
//
// Cost: linear in accesses and arcs; 24 bytes an arc that is kept, and 8 more at the end.

#include "detectors/conflict_graph.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "detectors/components.h"

namespace svd {

UnitId ConflictGraph::add(ThreadIndex thread, Moment now) {
  UnitId unit(units_++);
  if (thread.value >= last_.size()) last_.resize(thread.value + 1U);
  Last& last = last_[thread.value];
  if (last.moment.value != 0) arc(last.unit, unit, last.moment, now);
  last = {unit, now, thread};
  if (units_ % last_.size() == 0) settle(unit);
  return unit;
}

void ConflictGraph::settle(UnitId newest) {
  settled_ = newest;
  for (const Last& last : last_)
    if (last.moment.value != 0) settled_ = std::min(settled_, last.unit);
  auto after = tangles_.upper_bound(settled_);
  if (after == tangles_.begin()) return;
  const auto& [first, end] = *std::prev(after);
  if (settled_ <= end) settled_ = first;
}

void ConflictGraph::tangle(UnitId first, UnitId last) {
  auto next = tangles_.upper_bound(first);
  if (next != tangles_.begin() && std::prev(next)->second >= first) {
    --next;
    if (next->second >= last) return;
    first = next->first;
  }
  while (next != tangles_.end() && next->first <= last) {
    last = std::max(last, next->second);
    next = tangles_.erase(next);
  }
  tangles_.emplace_hint(next, first, last);
}

void ConflictGraph::arc(UnitId from, UnitId to, Moment first, Moment second) {
  if (from == to || from < settled_) return;
  if (arcs_.size() > 0 && arcs_.back().from == from && arcs_.back().to == to) return;
  if (to < from) tangle(to, from);
  arcs_.push_back({from, to, first, second});
}

void ConflictGraph::access(UnitId unit, const Touch& access) {
  Entry now;
  now.moment = access.moment.value & ((std::uint64_t{1} << 48) - 1);
  now.thread = access.thread.value;
  now.unit = unit;
  auto from = [&](const Entry& entry) {
    if (entry.thread != now.thread) arc(entry.unit, unit, Moment(entry.moment), access.moment);
  };
  auto look = [&](Cell& cell, Addr, std::uint64_t) {
    if (access.writes()) {
      if (cell.reads.size() == 0 && cell.write.moment != 0) from(cell.write);
      for (const Entry& read : cell.reads) from(read);
      cell.reads.clear();
      cell.write = now;
      return;
    }
    if (cell.write.moment != 0) from(cell.write);
    Entry* same = std::find_if(cell.reads.begin(), cell.reads.end(),
                               [&](const Entry& e) { return e.thread == now.thread; });
    if (same != cell.reads.end()) {
      *same = now;
    } else {
      cell.reads.add(now);
    }
  };
  if (access.kind == TouchKind::kFree) {
    shadow_.visit(access.address, access.size, look);
  } else {
    shadow_.touch(access.address, access.size, look);
  }
}

void ConflictGraph::release(UnitId unit, ThreadIndex thread, ChannelId channel, Moment now) {
  if (channel.value >= releases_.size()) releases_.resize(channel.value + 1);
  std::vector<Last>& releases = releases_[channel.value];
  std::erase_if(releases, [thread](const Last& last) { return last.thread == thread; });
  releases.push_back({unit, now, thread});
}

void ConflictGraph::acquire(UnitId unit, ChannelId channel, Moment now) {
  if (channel.value >= releases_.size()) return;
  for (const Last& last : releases_[channel.value]) arc(last.unit, unit, last.moment, now);
}

std::vector<std::vector<ConflictGraph::Arc>> ConflictGraph::cycles() const {
  std::vector<std::vector<Arc>> found;
  // Without an arc to an older unit there is no cycle.
  if (tangles_.empty()) return found;
  Components components(units_, [this](auto&& f) {
    std::uint32_t number = 0;
    arcs_.each([&](const Arc& arc) { f(arc.from.value, arc.to.value, number++); });
  });
  std::vector<bool> told(units_);
  arcs_.each([&](const Arc& arc) {
    std::uint32_t in = components.of(arc.from.value);
    if (arc.from < arc.to || components.of(arc.to.value) != in || told[in]) return;
    told[in] = true;
    std::vector<Arc>& cycle = found.emplace_back();
    for (std::uint32_t link : components.way(arc.to.value, arc.from.value))
      cycle.push_back(arcs_[link]);
    cycle.push_back(arc);
  });
  return found;
}

}  // namespace svd
