// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the published online detector: their states, their conflicts, and who had read
// them.
#include "detectors/online_memory.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dpdg/bring_near.h"
#include "svd/trace/result.h"

namespace svd {
namespace {

constexpr int kLook = 2;  // for a unit among those that had read a block
constexpr std::uint32_t kNoView = 0;

}  // namespace

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
  if (view.hears == 0) return;
  bring_near(&views_[view.next]);
  bring_near(&all_units_[view.cu]);
  if (view.reader == 0) bring_near(&extras_[view.extra]);
}

// The view of a thread whose access is the block's last one from here on.
OnlineMemory::ViewIndex OnlineMemory::bring_front(std::size_t thread, BlockNumber block,
                                                  ViewIndex& first) {
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
  BlockNumber first = address / kBlock;
  BlockNumber end = (address + std::min(size - 1, ~address)) / kBlock + 1;
  pages_.each_between(first / kPageBlocks, (end - 1) / kPageBlocks,
                      [&](std::uint64_t number, Page& page) {
                        BlockNumber begin = number * kPageBlocks;
                        BlockNumber to = std::min(begin + kPageBlocks, end);
                        for (BlockNumber block = std::max(begin, first); block < to; ++block)
                          if (page[block - begin] != 0) f(page[block - begin]);
                      });
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
  view.moment = access.moment.value & BriefMark::kMoments;
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
  extra.moment = access.moment.value & BriefMark::kMoments;
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
