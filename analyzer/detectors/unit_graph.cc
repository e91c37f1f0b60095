// SPDX-License-Identifier: Apache-2.0
//
// Definition. The units of a run are serializable when they can be put one after the other without
// changing the graph of dependences (SVD, Definition 4). Here one unit has to come before another
//   - when one of its accesses conflicts with a later one of the other: two threads, a common byte,
//     one writes;
//   - when the other one is of the same thread and follows from it, though the two are no unit: it
//     reads what the first wrote to shared memory, or the first was in an address or a condition.
// That the thread did one after the other is no reason. They are serializable when there is no
// cycle.
//
//     thread 1: n = count                            count = n + 1       unit 1
//     thread 2:             c = count  count = c + 1                     unit 2
//
// has the arcs 1 -> 2 (read before write) and 2 -> 1: not serializable. Without the last write of
// thread 1 strict two-phase locking is violated if unit 1 goes on, but 1 can come before 2.
//
// Algorithm. As thread 1's units need not come one after the other, an arc to the next conflict
// does not stand for those to later ones. So for each cell and thread there are two points, one
// that all its writes so far lead to and one for its reads, and from which all that comes after
// them is led to. A point that something was led from is not added to any more: another one follows
// it. Of conditions, which lie within each other, there is a point for each one with all that are
// around it. Units are nodes once it is known which members are one.
//
// Cost: an access to a cell makes two arcs and up to two for each other thread that accessed it;
// some 5 bytes an arc, 4 an access that makes some, 32 a cell and 28 for each further thread that
// accessed it. Above kMostArcs no more are made: cycles that were found are true, but more may have
// been missed (full()).
//
// Known unsoundness: that a thread overwrites what it had read or written makes no arc, as if each
// of its writes had a place of its own. What a unit left in registers or private memory when it
// ended may be forgotten.

#include "detectors/unit_graph.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

namespace svd {

std::uint64_t UnitGraph::ArcCoder::put_node(Node node) {
  std::uint32_t is_point = node >> 31;
  Node before = std::exchange(last_[is_point], node);
  return std::uint64_t{fold(node - before)} << 1 | is_point;
}

UnitGraph::Node UnitGraph::ArcCoder::get_node(std::uint64_t number) {
  return last_[number & 1] += unfold(static_cast<std::uint32_t>(number >> 1));
}

void UnitGraph::ArcCoder::put(Bytes& bytes, const Arc& arc) {
  Which which = arc.mark == 0 ? kNone : arc.mark == mark_ ? kSame : kNext;
  if (which == kNext) mark_ = arc.mark;
  put_number(bytes, put_node(arc.from));
  put_number(bytes, put_node(arc.to) << 2 | which);
}

UnitGraph::Arc UnitGraph::ArcCoder::get(const std::uint8_t*& at) {
  Node from = get_node(get_number(at));
  std::uint64_t number = get_number(at);
  Node to = get_node(number >> 2);
  auto which = static_cast<Which>(number & 3);
  if (which == kNext) ++mark_;
  return {from, to, which == kNone ? 0 : mark_};
}

// Mostly the thread is the same, and the locks that it holds.
void UnitGraph::MarkCoder::put(Bytes& bytes, const Mark& mark) {
  bool same = mark.thread == last_.thread && mark.locks == last_.locks;
  std::uint64_t later = mark.moment - last_.moment;
  std::uint64_t what = std::uint64_t{mark.kind} << 1 | std::uint64_t{mark.atomic};
  put_number(bytes, later << 4 | what << 1 | (same ? 1U : 0U));
  put_number(bytes, mark.site);
  if (!same) put_number(bytes, std::uint64_t{mark.locks} << 16 | mark.thread);
  last_ = mark;
}

Mark UnitGraph::MarkCoder::get(const std::uint8_t*& at) {
  std::uint64_t number = get_number(at);
  Touch access;
  access.moment = Moment(last_.moment + (number >> 4));
  access.kind = static_cast<TouchKind>(number >> 2 & 3);
  access.atomic = (number & 2) != 0;
  access.site = SiteId(static_cast<std::uint32_t>(get_number(at)));
  std::uint64_t rest = std::uint64_t{last_.locks} << 16 | last_.thread;
  if ((number & 1) == 0) rest = get_number(at);
  access.locks = LockSetId(static_cast<std::uint32_t>(rest >> 16));
  access.thread = ThreadIndex(static_cast<std::uint16_t>(rest & 0xffff));
  return last_ = Mark(access);
}

UnitGraph::Node UnitGraph::point(UnitMember youngest) {
  points_.push_back(youngest);
  return static_cast<Node>(points_.size() - 1) | kPoint;
}

UnitMember UnitGraph::youngest(Node node) const {
  return (node & kPoint) == 0 ? node : points_[node & ~kPoint];
}

void UnitGraph::arc(Node from, Node to, std::uint32_t mark) {
  if (from == to || full()) return;
  arcs_.push_back({from, to, mark});
}

// From or to the access at hand.
void UnitGraph::memory_arc(Node from, Node to) {
  if (mark_ == 0) {
    mark_ = static_cast<std::uint32_t>(marks_.size());
    marks_.push_back(now_);
  }
  arc(from, to, mark_);
}

// The unit comes after all that was added.
void UnitGraph::after(Past& past, UnitMember unit) {
  if (past.point == 0 || past.follower == unit) return;
  memory_arc(past.point, unit);
  past.follower = unit;
  past.closed = 1;
}

void UnitGraph::add(Past& past, UnitMember unit) {
  if (past.point != 0 && past.last == unit && !past.closed) return;
  if (past.point == 0 || past.closed) {
    Node before = past.point;
    past.point = point(before == 0 ? unit : youngest(before));
    past.follower = 0;
    past.closed = 0;
    if (before != 0) arc(before, past.point);
  }
  memory_arc(unit, past.point);
  past.last = unit & ~kPoint;
  points_[past.point & ~kPoint] = std::max(youngest(past.point), unit);
}

void UnitGraph::accessed(UnitMember unit, const Touch& access) {
  if (full()) {
    if (!shadow_.empty()) close();
    return;
  }
  now_ = Mark(access);
  mark_ = 0;
  auto look = [&](Cell& cell, Addr, std::uint64_t) {
    ByThread* own = nullptr;
    for (ByThread& by : cell.threads) {
      if (by.thread == access.thread.value) {
        own = &by;
        continue;
      }
      after(by.writes, unit);
      if (access.writes()) after(by.reads, unit);
    }
    if (own == nullptr) {
      own = &cell.threads.add({});
      own->thread = access.thread.value;
    }
    if (access.writes()) {
      add(own->writes, unit);
    } else {
      if (own->writes.point != 0) follows(unit, own->writes.last);
      add(own->reads, unit);
    }
  };
  if (access.kind == TouchKind::kFree) {
    shadow_.visit(access.address, access.size, look);
  } else {
    shadow_.touch(access.address, access.size, look);
  }
}

// What many small pieces of memory were for goes back to the system: others run meanwhile.
void UnitGraph::close() {
  shadow_ = {};
  malloc_trim(0);
}

void UnitGraph::follows(UnitMember unit, TagSet from, const TagSets& sets) {
  sets.each(from, [&](UnitMember member) { arc(member, unit); });
}

void UnitGraph::decided(UnitMember unit, ThreadIndex thread, const ControlStack& by,
                        const TagSets& sets) {
  if (full()) return;
  conditions_.clear();
  by.each([this](TagSet condition) {
    if (!condition.empty()) conditions_.push_back(condition);
    return true;
  });
  if (sets.generation() != generation_) decisions_.clear();  // they name sets of before
  generation_ = sets.generation();
  if (decisions_.size() <= thread.value) decisions_.resize(thread.value + 1U);
  std::vector<Decision>& known = decisions_[thread.value];
  std::size_t same = 0;
  while (same < std::min(known.size(), conditions_.size()) &&
         known[same].condition == conditions_[conditions_.size() - 1 - same])
    ++same;
  known.resize(same);
  for (std::size_t left = conditions_.size() - same; left-- > 0;) {
    Node outer = known.empty() ? 0 : known.back().node;
    UnitMember youngest_of_all = youngest(outer);
    sets.each(conditions_[left],
              [&](UnitMember m) { youngest_of_all = std::max(youngest_of_all, m); });
    Node all = point(youngest_of_all);
    if (outer != 0) arc(outer, all);
    sets.each(conditions_[left], [&](UnitMember member) { arc(member, all); });
    known.push_back({conditions_[left], all});
  }
  if (!known.empty()) arc(known.back().node, unit);
}

}  // namespace svd
