// SPDX-License-Identifier: Apache-2.0
#include "detectors/online_memory.h"

#include <algorithm>
#include <stdexcept>

#include "dpdg/bring_near.h"
#include "svd/trace/result.h"

namespace svd {
namespace {

constexpr int kLook = 2;  // for a unit among those that had read a block
constexpr std::uint32_t kNoView = 0;
constexpr std::uint64_t kMoments = (std::uint64_t{1} << Mark::kMomentBits) - 1;
constexpr std::size_t kMostUnowned = 4096;  // looking costs about as much as what registers hold

}  // namespace

std::uint32_t Manners::of(const Touch& access) {
  Mark mark(access);
  mark.moment = 0;
  mark.thread = 0;
  std::uint64_t key = (std::uint64_t{mark.locks} << 3 | std::uint64_t{mark.kind} << 1 | mark.atomic)
                          << 32 |
                      mark.site;
  Known& last = last_[(mark.site * 31 + mark.locks) % last_.size()];
  if (last.key == key) return last.manner;
  auto [known, added] = known_.emplace(key, static_cast<std::uint32_t>(marks_.size()));
  if (added) marks_.push_back(mark);
  last = {key, known->second};
  return last.manner;
}

Mark Manners::mark(std::uint32_t manner, std::uint64_t moment, std::uint64_t thread) const {
  Mark mark = marks_[manner];
  mark.moment = moment & ((std::uint64_t{1} << Mark::kMomentBits) - 1);
  mark.thread = thread & 0xffffU;
  return mark;
}

OnlineMemory::OnlineMemory(std::size_t threads, std::size_t least_records)
    : units_(threads),
      least_records_(least_records),
      threads_(threads),
      most_unowned_(std::min(least_records, kMostUnowned)) {
  soon_.fill(&kNoView);
  // What 0 stands for.
  all_units_.push_back({});
  views_.push_back({});
  extras_.push_back({});
  nodes_.push_back({});
}

void OnlineMemory::soon(Addr address) {
  BlockNumber block = address.value / kBlock;
  const Page* page = pages_.find(block / kPageBlocks);
  const ViewIndex* first = page == nullptr ? &kNoView : &(*page)[block % kPageBlocks];
  bring_near(first);
  std::size_t at = next_soon_++;
  soon_[at % soon_.size()] = first;
  auto before = [&](std::size_t steps) -> const View& {
    return views_[*soon_[(at - steps * kStep) % soon_.size()]];
  };
  bring_near(&before(1));
  const View& view = before(2);
  bring_near(&views_[view.next]);
  bring_near(&all_units_[view.cu]);
  if (view.reader == 0) bring_near(&extras_[view.extra]);
}

// The view of a thread whose access is the block's last one from here on.
OnlineMemory::ViewIndex OnlineMemory::bring_front(std::size_t thread, BlockNumber block, ViewIndex& first) {
  ViewIndex before = first;
  ViewIndex at = first == 0 ? 0 : ViewIndex{views_[first].next};
  for (; at != 0 && views_[at].thread != thread; at = views_[at].next) before = at;
  if (at != 0) {
    views_[before].next = views_[at].next;
    views_[at].next = first & kViews;
    views_[at].told = Told::kNothing;
  } else {
    at = static_cast<ViewIndex>(views_.size());
    if (at > kViews) throw std::length_error("svd-online: more than 5 * 10^8 blocks");
    bool others_tell = tellers_.other_than(static_cast<std::uint32_t>(thread) + 1, block);
    views_.push_back(View(thread, first, others_tell));
  }
  return first = at;
}

// f(first view) of the blocks of the range that have one.
template <class F>
void OnlineMemory::each_block(std::uint64_t address, std::uint64_t size, F&& f) {
  BlockNumber first = address / kBlock, end = (address + size - 1) / kBlock + 1;
  auto part = [&](std::uint64_t number, Page& page) {
    BlockNumber begin = number * kPageBlocks;
    BlockNumber from = std::max(begin, first), to = std::min(begin + kPageBlocks, end);
    for (BlockNumber block = from; block < to; ++block)
      if (page[block - begin] != 0) f(page[block - begin]);
  };
  std::uint64_t last_page = (end - 1) / kPageBlocks;
  if (last_page - first / kPageBlocks < pages_.size()) {
    for (std::uint64_t number = first / kPageBlocks; number <= last_page; ++number)
      if (Page* page = pages_.find(number)) part(number, *page);
  } else {
    pages_.each([&](std::uint64_t number, Page& page) {
      if (number >= first / kPageBlocks && number <= last_page) part(number, page);
    });
  }
}

// Lines 4 to 9 of Figure 7.
UnitMember OnlineMemory::load(std::size_t thread, BlockNumber block, const Touch* told) {
  ViewIndex at = front(thread, block);
  View& own = views_[at];
  if (own.hears == 0) {
    if (own.cu == 0 || !units_.active(own.cu, thread)) {
      own.cu = begin(thread) & kMembers;
      all_units_[own.cu].blocks = 1;
    }
    if (told != nullptr) tell(own, *told);
    return own.cu;
  }
  if (own.state == State::kStored && own.shared != 0) deactivate(own.cu);
  if (own.cu == 0) {
    own.cu = begin(thread) & kMembers;
    add(all_units_[own.cu], at);
    all_units_[own.cu].blocks = 1;
  }
  own.reads = 1;
  if (own.state == State::kIdle) own.state = State::kLoaded;
  if (own.state == State::kStored) own.state = State::kTrueDep;
  if (told != nullptr) {
    if (own.heard != 0) accessed(own, *told);
    tell(own, *told);
  }
  return own.cu;
}

// Lines 20 and 21.
void OnlineMemory::store(std::size_t thread, BlockNumber block, const Touch* told,
                         UnitMember unit) {
  ViewIndex at = front(thread, block);
  View& own = views_[at];
  if (own.hears == 0) {
    if (own.cu == 0 || !units_.same(own.cu, unit)) {
      if (own.cu != 0) disown(own);
      ++all_units_[unit].blocks;
    }
    own.cu = unit & kMembers;
    if (told != nullptr) tell(own, *told);
    return;
  }
  if (own.cu == 0 || !units_.same(own.cu, unit)) give(at, unit);
  own.cu = unit & kMembers;
  if (own.state != State::kTrueDep) own.state = State::kStored;
  if (told != nullptr) {
    accessed(own, *told);
    tell(own, *told);
  }
}

void OnlineMemory::accessed(View& view, const Touch& access) {
  if (view.conflicted != 0) return;
  view.moment = access.moment.value & kMoments;
  view.manner = manners_.of(access);
  view.heard = 0;
}

// Of the block's first view. While nobody else accesses the block, another load tells nobody
// anything, nor does a store after a store.
inline void OnlineMemory::tell(View& view, const Touch& access) {
  Told needed = access.writes() ? Told::kWrite : Told::kRead;
  if (view.next == 0 || view.told >= needed) return;
  view.told = needed;
  for (ViewIndex at = view.next; at != 0; at = views_[at].next) hear(at, access);
}

// Lines 29 to 32, for each other thread.
void OnlineMemory::remote(const Touch& access) {
  each_block(access.address.value, access.size, [&](ViewIndex first) {
    for (ViewIndex at = first; at != 0; at = views_[at].next)
      if (views_[at].thread != access.thread.value) hear(at, access);
  });
}

void OnlineMemory::hear(ViewIndex at, const Touch& access) {
  View& view = views_[at];
  SVD_CHECK(view.hears != 0);
  if (view.state == State::kTrueDep) {
    view.heard = 1;
    return deactivate(view.cu);
  }
  bool conflicts = view.state == State::kStored || (access.writes() && view.state != State::kIdle);
  if (view.state != State::kIdle) view.shared = 1;
  if (view.conflicted != 0) return;
  view.heard = 1;
  if (!conflicts || view.moment == 0) return;
  find_readers(view);
  view.conflicted = 1;
  if (readers_.empty()) {
    if (view.extra != 0) detach(view);
    return;
  }
  Extra& extra = make_extra(at);
  extra.moment = access.moment.value & kMoments;
  extra.thread = access.thread.value;
  extra.manner = manners_.of(access);
  extra.copied = readers_.size() > 1;
  for (UnitMember reader : readers_) {
    ExtraIndex listed = view.extra;
    if (extra.listed != 0) {
      listed = take_extra();
      extras_[listed] = extra;
      extras_[listed].readers = 0;
    }
    add_conflict(reader, listed);
  }
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

void OnlineMemory::make_idle(View& view) {
  view.state = State::kIdle;
  view.shared = 0;
  view.conflicted = 0;
  if (view.extra != 0 && view.reader == 0 && extras_[view.extra].readers == 0) detach(view);
}

// The view has no extra then.
void OnlineMemory::detach(View& view) {
  ExtraIndex extra = view.extra;
  view.extra = 0;
  if (view.reader != 0) {
    view.reader = 0;
    return;
  }
  give_back_chain(std::exchange(extras_[extra].readers, 0));
  if (extras_[extra].listed == 0) give_back(extra);
}

// New memory is Idle for all. Views stay, because units name them.
void OnlineMemory::fresh(Addr address, std::uint64_t size) {
  each_block(address.value, size, [this](ViewIndex first) {
    for (ViewIndex at = first; at != 0; at = views_[at].next) {
      View& view = views_[at];
      if (view.extra != 0) detach(view);
      if (view.cu != 0) disown(view);
      view = View(view.thread, view.next, view.hears != 0);
    }
  });
}

// A block less belongs to its unit.
void OnlineMemory::disown(const View& view) {
  UnitMember stands = units_.of_member(view.cu);
  if (--all_units_[stands].blocks == 0)
    unowned_.push_back({stands, static_cast<std::uint32_t>(view.thread)});
}

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

// The view's, which is in no list.
OnlineMemory::Extra& OnlineMemory::make_extra(ViewIndex at) {
  View& view = views_[at];
  std::uint32_t before = view.extra;
  bool reader = view.reader != 0;
  if (before != 0 && !reader && extras_[before].listed == 0) return extras_[before];
  view.reader = 0;
  view.extra = take_extra() & kExtras;
  Extra& extra = extras_[view.extra];
  extra = {};
  extra.view = at;
  if (reader) {
    extra.readers = make_node(before, 0);
  } else if (before != 0) {
    extra.readers = std::exchange(extras_[before].readers, 0);
  }
  return extra;
}

// The block comes to belong to another unit. Most often it belonged to that before, or to another
// one that has ended: the note of it makes room for that of the unit that it belonged to last.
void OnlineMemory::give(ViewIndex at, UnitMember unit) {
  View& view = views_[at];
  if (view.cu != 0) disown(view);
  ++all_units_[unit].blocks;
  UnitMember read = view.reads != 0 ? UnitMember{view.cu} : 0;
  bool known = false;
  if (view.reader != 0) {
    known = units_.same(view.extra, unit);
    if ((known || !units_.active(view.extra, view.thread)) && read <= kExtras) {
      view.extra = read & kExtras;
      view.reader = read != 0;
      read = 0;
    }
  } else {
    NodeIndex room = 0;
    NodeIndex node = readers(view);
    for (int i = 0; i < kLook && node != 0 && !known; ++i, node = nodes_[node].next) {
      UnitMember other = units_.of_member(nodes_[node].what);
      known = other == unit;
      if (known || !units_.active(other, view.thread)) room = node;
    }
    if (room != 0 && read != 0) nodes_[room].what = std::exchange(read, 0);
  }
  if (read != 0) had_read(at, read);
  if (!known) add(all_units_[unit], at);
  view.reads = known;
}

void OnlineMemory::had_read(ViewIndex at, UnitMember unit) {
  View& view = views_[at];
  if (view.extra == 0 && unit <= kExtras) {
    view.extra = unit & kExtras;
    view.reader = 1;
    return;
  }
  bool has = view.extra != 0 && view.reader == 0;
  Extra& extra = has ? extras_[view.extra] : make_extra(at);
  extra.readers = make_node(unit, extra.readers);
}

// In readers_: each once, and those that have ended not at all. Nor are they noted any more.
void OnlineMemory::find_readers(View& view) {
  readers_.clear();
  auto find = [&](UnitMember reader) {
    UnitMember unit = units_.of_member(reader);
    if (units_.active(unit, view.thread)) readers_.push_back(unit);
  };
  if (view.reader != 0) {
    find(view.extra);
    if (readers_.empty()) detach(view);
  } else if (NodeIndex first = std::exchange(extras_[view.extra].readers, 0)) {
    for (NodeIndex node = first; node != 0; node = nodes_[node].next) find(nodes_[node].what);
    give_back_chain(first);
    std::sort(readers_.begin(), readers_.end());
    readers_.erase(std::unique(readers_.begin(), readers_.end()), readers_.end());
    NodeIndex& kept = extras_[view.extra].readers;
    for (UnitMember reader : readers_) kept = make_node(reader, kept);
  }
  if (view.reads == 0) return;
  UnitMember unit = units_.of_member(view.cu);
  if (std::find(readers_.begin(), readers_.end(), unit) == readers_.end()) readers_.push_back(unit);
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

std::unordered_map<OnlineMemory::ViewIndex, Addr> OnlineMemory::addresses(
    const std::vector<ViewIndex>& views) const {
  std::unordered_map<ViewIndex, Addr> known;
  for (ViewIndex view : views) known[view] = {};
  pages_.each([&](std::uint64_t number, const Page& page) {
    for (std::uint64_t i = 0; i < page.size(); ++i) {
      for (ViewIndex at = page[i]; at != 0; at = views_[at].next)
        if (auto wanted = known.find(at); wanted != known.end())
          wanted->second = Addr((number * kPageBlocks + i) * kBlock);
    }
  });
  return known;
}

}  // namespace svd
