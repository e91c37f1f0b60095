// SPDX-License-Identifier: Apache-2.0
//
// The units of the published online detector: what they have read and written, their conflicts,
// how two become one, and how they end.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "detectors/online_memory.h"
#include "dpdg/bring_near.h"

namespace svd {

UnitMember OnlineMemory::begin(std::size_t thread) {
  if (units_.members() > kMembers) throw std::length_error("svd-online: more than 10^9 units");
  all_units_.push_back({});
  return units_.begin(thread);
}

UnitMember OnlineMemory::join(UnitMember a, UnitMember b) {
  a = units_.of_member(a);
  b = units_.of_member(b);
  UnitMember all = units_.merge(a, b);
  if (a == b) return all;
  Unit &into = all_units_[all], &from = all_units_[all == a ? b : a];
  into.blocks += from.blocks;
  std::uint32_t views = std::exchange(from.views, 0);
  if (into.views == 0 || (into.views & Unit::kSingle) != 0) std::swap(into.views, views);
  if ((views & Unit::kSingle) != 0) {
    add(into, views & ~Unit::kSingle);
  } else if (views != 0) {
    std::swap(nodes_[into.views].next, nodes_[views].next);
  }
  if (ExtraIndex theirs = std::exchange(from.conflicts, 0)) {
    if (into.conflicts != 0) {
      Extra &last = extras_[into.conflicts], &other = extras_[theirs];
      ExtraIndex first = last.next;
      last.next = other.next;
      other.next = first & kExtras;
    }
    into.conflicts = theirs;
  }
  if (into.conflicts != 0) ++threads_[views_[extras_[into.conflicts].view].thread].news;
  return all;
}

void OnlineMemory::add(Unit& unit, ViewIndex view) {
  if (unit.views == 0) {
    unit.views = view | Unit::kSingle;
    return;
  }
  if ((unit.views & Unit::kSingle) != 0) {
    ViewIndex single = unit.views & ~Unit::kSingle;
    if (single == view) return;
    unit.views = make_node(single, 0);
    nodes_[unit.views].next = unit.views;
  }
  NodeIndex& after = nodes_[unit.views].next;
  unit.views = after = make_node(view, after);
}

// The unit has none then.
template <class F>
void OnlineMemory::take_views(Unit& unit, F&& f) {
  std::uint32_t views = std::exchange(unit.views, 0);
  if (views == 0) return;
  if ((views & Unit::kSingle) != 0) return f(ViewIndex{views & ~Unit::kSingle});
  NodeIndex first = std::exchange(nodes_[views].next, 0);
  for (NodeIndex node = first; node != 0; node = nodes_[node].next) {
    bring_near(&views_[nodes_[nodes_[node].next].what]);
    f(nodes_[node].what);
  }
  give_back_chain(first);
}

void OnlineMemory::add_conflict(UnitMember stands, ExtraIndex at) {
  ExtraIndex& last = all_units_[stands].conflicts;
  Extra& extra = extras_[at];
  extra.listed = 1;
  extra.next = at & kExtras;
  if (last != 0) {
    extra.next = extras_[last].next;
    extras_[last].next = at & kExtras;
  }
  last = at;
  Thread& thread = threads_[views_[extra.view].thread];
  ++thread.conflicts;
  ++thread.news;
}

void OnlineMemory::deactivate(UnitMember member) {
  UnitMember stands = units_.of_member(member);
  units_.end(stands);
  Unit& unit = all_units_[stands];
  if (unit.conflicts != 0) take_all_conflicts(stands, [](const Conflict&) {});
  take_views(unit, [&](ViewIndex at) {
    View& view = views_[at];
    make_idle(view);
    if (view.cu == 0 || !units_.same(view.cu, stands)) return;
    view.cu = 0;
    view.reads = 0;
  });
}

void OnlineMemory::forget_units(std::vector<UnitMember> held) {
  for (UnitMember& member : held) member = units_.of_member(member);
  std::sort(held.begin(), held.end());
  std::erase_if(unowned_, [&](const Unowned& unowned) {
    UnitMember stands = units_.of_member(unowned.unit);
    Unit& unit = all_units_[stands];
    if (unit.blocks != 0 || !units_.active(stands, unowned.thread)) return true;
    if (std::binary_search(held.begin(), held.end(), stands)) return false;
    units_.end(stands);
    if (unit.conflicts != 0) take_all_conflicts(stands, [](const Conflict&) {});
    take_views(unit, [](ViewIndex) {});
    return true;
  });
  most_unowned_ = unowned_.size() + std::min(least_records_, kMostUnowned);
  if (used_ > most_used_) forget_nodes();
}

// Whether there are many readers, or one that has ended.
bool OnlineMemory::worth_looking(const View& view) {
  int some = 8;
  for (NodeIndex node = readers(view); node != 0; node = nodes_[node].next)
    if (--some == 0 || !units_.active(nodes_[node].what, view.thread)) return true;
  return false;
}

// Of what stands there more than once, and of units that have ended.
void OnlineMemory::forget_nodes() {
  std::vector<UnitMember> met_in(views_.size());  // of each view the last unit
  for (UnitMember member = 1; member < units_.members(); ++member) {
    NodeIndex last = all_units_[member].views;
    if (last == 0 || (last & Unit::kSingle) != 0) continue;
    met_in[nodes_[last].what] = member;
    for (NodeIndex before = last; nodes_[before].next != last;) {
      NodeIndex node = nodes_[before].next;
      if (std::exchange(met_in[nodes_[node].what], member) != member) {
        before = node;
      } else {
        nodes_[before].next = std::exchange(nodes_[node].next, 0);
        give_back_chain(node);
      }
    }
  }
  for (ViewIndex at = 1; at < views_.size(); ++at) {
    View& view = views_[at];
    if (!worth_looking(view)) continue;
    find_readers(view);
    if (readers(view) == 0 && view.conflicted == 0) detach(view);
  }
  most_used_ = 2 * used_ + least_records_ + units_.members() / 8;
}

OnlineMemory::NodeIndex OnlineMemory::make_node(std::uint32_t what, NodeIndex next) {
  NodeIndex node = free_nodes_;
  if (node != 0) {
    free_nodes_ = nodes_[node].next;
    nodes_[node] = {what, next};
  } else {
    node = static_cast<NodeIndex>(nodes_.size());
    nodes_.push_back({what, next});
  }
  ++used_;
  return node;
}

void OnlineMemory::give_back_chain(NodeIndex first) {
  while (first != 0) {
    NodeIndex next = std::exchange(nodes_[first].next, free_nodes_);
    free_nodes_ = first;
    --used_;
    first = next;
  }
}

OnlineMemory::ExtraIndex OnlineMemory::take_extra() {
  ++used_;
  ExtraIndex extra = free_extras_;
  if (extra != 0) {
    free_extras_ = extras_[extra].next;
    return extra;
  }
  extra = static_cast<ExtraIndex>(extras_.size());
  if (extra > kExtras) throw std::length_error("svd-online: more than 10^8 conflicts");
  extras_.push_back({});
  return extra;
}

void OnlineMemory::give_back(ExtraIndex extra) {
  extras_[extra] = {};
  extras_[extra].next = free_extras_ & kExtras;
  free_extras_ = extra;
  --used_;
}

}  // namespace svd
