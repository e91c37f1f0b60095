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
// the next one of its thread. Strongly connected components by Tarjan's algorithm, without
// recursion; of each component a shortest cycle by breadth-first search.
//
// Cost: linear in accesses and arcs; 24 bytes an arc.

#include "detectors/conflict_graph.h"

#include <algorithm>
#include <limits>

namespace svd {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Arcs by the unit they leave.
struct Successors {
  std::vector<std::uint32_t> begin;  // by unit; one more at the end
  std::vector<std::uint32_t> arcs;

  Successors(const std::vector<ConflictGraph::Arc>& all, std::size_t units) : begin(units + 2) {
    for (const auto& arc : all) ++begin[arc.from.value + 2];
    for (std::size_t i = 2; i < begin.size(); ++i) begin[i] += begin[i - 1];
    arcs.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      arcs[begin[all[i].from.value + 1]++] = static_cast<std::uint32_t>(i);
  }
};

class Tarjan {
 public:
  Tarjan(const std::vector<ConflictGraph::Arc>& all, const Successors& successors,
         std::size_t units)
      : all_(all),
        successors_(successors),
        number_(units, kNone),
        low_(units),
        component_(units, kNone) {}

  // By unit: the number of its component, or kNone when it is alone in it.
  std::vector<std::uint32_t> run() {
    for (std::uint32_t unit = 0; unit < number_.size(); ++unit) {
      if (number_[unit] == kNone) visit(unit);
    }
    return std::move(component_);
  }

 private:
  struct Frame {
    std::uint32_t unit, next;
  };

  void visit(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      std::uint32_t unit = frame.unit;
      if (frame.next < successors_.begin[unit + 1]) {
        std::uint32_t to = all_[successors_.arcs[frame.next++]].to.value;
        if (number_[to] == kNone) {
          enter(to);
        } else if (component_[to] == kNone) {
          low_[unit] = std::min(low_[unit], number_[to]);
        }
      } else {
        leave(unit);
      }
    }
  }

  void enter(std::uint32_t unit) {
    number_[unit] = low_[unit] = next_++;
    open_.push_back(unit);
    frames_.push_back({unit, successors_.begin[unit]});
  }

  void leave(std::uint32_t unit) {
    frames_.pop_back();
    if (!frames_.empty()) {
      std::uint32_t& low = low_[frames_.back().unit];
      low = std::min(low, low_[unit]);
    }
    if (low_[unit] != number_[unit]) return;
    std::uint32_t member = kNone;
    do {
      member = open_.back();
      open_.pop_back();
      component_[member] = unit;
    } while (member != unit);
  }

  const std::vector<ConflictGraph::Arc>& all_;
  const Successors& successors_;
  std::vector<std::uint32_t> number_, low_, component_, open_;
  std::vector<Frame> frames_;
  std::uint32_t next_ = 0;
};

// Shortest ways between units of one component. What a search has touched is cleared after it, so
// that many small components cost no more than one large one.
class Ways {
 public:
  Ways(const std::vector<ConflictGraph::Arc>& all, const Successors& successors,
       const std::vector<std::uint32_t>& component)
      : all_(all), successors_(successors), component_(component), by_(component.size(), kNone) {}

  // There is a way.
  std::vector<ConflictGraph::Arc> shortest(std::uint32_t from, std::uint32_t to) {
    queue_.assign(1, from);
    for (std::size_t i = 0; by_[to] == kNone; ++i) visit(queue_[i], from);
    std::vector<ConflictGraph::Arc> way;
    for (std::uint32_t at = to; at != from; at = way.back().from.value)
      way.push_back(all_[by_[at]]);
    std::reverse(way.begin(), way.end());
    for (std::uint32_t unit : queue_) by_[unit] = kNone;
    return way;
  }

 private:
  void visit(std::uint32_t unit, std::uint32_t from) {
    for (std::uint32_t a = successors_.begin[unit]; a < successors_.begin[unit + 1]; ++a) {
      std::uint32_t next = all_[successors_.arcs[a]].to.value;
      if (component_[next] != component_[from] || by_[next] != kNone || next == from) continue;
      by_[next] = successors_.arcs[a];
      queue_.push_back(next);
    }
  }

  const std::vector<ConflictGraph::Arc>& all_;
  const Successors& successors_;
  const std::vector<std::uint32_t>& component_;
  std::vector<std::uint32_t> by_;  // the arc that reached a unit
  std::vector<std::uint32_t> queue_;
};

}  // namespace

UnitId ConflictGraph::add(ThreadIndex thread, Moment now) {
  UnitId unit(units_++);
  if (thread.value >= last_.size()) last_.resize(thread.value + 1U);
  Last& last = last_[thread.value];
  if (last.moment.value != 0) arc(last.unit, unit, last.moment, now);
  last = {unit, now, thread};
  return unit;
}

void ConflictGraph::arc(UnitId from, UnitId to, Moment first, Moment second) {
  if (from == to) return;
  if (!arcs_.empty() && arcs_.back().from == from && arcs_.back().to == to) return;
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
      if (cell.reads.empty() && cell.write.moment != 0) from(cell.write);
      for (const Entry& read : cell.reads) from(read);
      cell.reads.clear();
      cell.write = now;
      return;
    }
    if (cell.write.moment != 0) from(cell.write);
    auto same = std::find_if(cell.reads.begin(), cell.reads.end(),
                             [&](const Entry& e) { return e.thread == now.thread; });
    if (same != cell.reads.end()) {
      *same = now;
    } else {
      cell.reads.push_back(now);
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
  auto goes_back = [](const Arc& arc) { return arc.to < arc.from; };
  if (std::none_of(arcs_.begin(), arcs_.end(), goes_back)) return found;
  Successors successors(arcs_, units_);
  std::vector<std::uint32_t> component = Tarjan(arcs_, successors, units_).run();
  std::vector<bool> told(units_);
  Ways ways(arcs_, successors, component);
  for (const Arc& arc : arcs_) {
    std::uint32_t in = component[arc.from.value];
    if (!goes_back(arc) || component[arc.to.value] != in || told[in]) continue;
    told[in] = true;
    found.push_back(ways.shortest(arc.to.value, arc.from.value));
    found.back().push_back(arc);
  }
  return found;
}

}  // namespace svd
