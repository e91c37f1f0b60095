// SPDX-License-Identifier: Apache-2.0
//
// Memory and units as the published online detector knows them: BLK_T and CU_T of SVD's Figure 7,
// with the states of Figure 8. online.cc has the definition. The memory of a run is many times that
// of its registers, so a block takes 24 bytes for each thread that accesses it, and 24 more where
// units are still to be told of a conflict with it.
//
// Most blocks no other thread tells of, in the whole run. What a block's state, its readers and its
// conflicts are for does not happen there, and nothing is known of it but its unit.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cu/units.h"
#include "detectors/accessors.h"
#include "detectors/long_list.h"
#include "detectors/manners.h"
#include "detectors/touch.h"
#include "dpdg/page_table.h"

namespace svd {

class OnlineMemory {
 public:
  static constexpr std::uint64_t kBlock = 4;  // bytes: "word-size blocks", section 6.2
  using BlockNumber = std::uint64_t;          // address / kBlock
  using ViewIndex = std::uint32_t;

  // What is superfluous among the records of what units read and wrote is looked for when more than
  // so many are in use.
  OnlineMemory(std::size_t threads, std::size_t least_records);

  // Who tells others of accesses to what, in the whole run.
  void expect(Accessors tellers) { tellers_ = std::move(tellers); }

  // By a thread, of a block; told: as others hear of it, unless they do not.
  // The block's unit from here on.
  UnitMember load(std::size_t thread, BlockNumber block, const Touch* told);
  void store(std::size_t thread, BlockNumber block, const Touch* told, UnitMember unit);
  // An access that is none of the thread's blocks, but heard of by others.
  void remote(const Touch& access);
  void fresh(Addr address, std::uint64_t size);

  // An access to it comes soon: asks for what it takes, step by step as that is found.
  void soon(Addr address);

  Units& units() { return units_; }
  UnitMember begin(std::size_t thread);
  // merge_and_update, of two.
  UnitMember join(UnitMember a, UnitMember b);

  // A block in a unit's read set that another thread conflicted with since.
  struct Conflict {
    Mark local, remote;
    ViewIndex view = 0;
  };
  // Calls f(const Conflict&) for those of a unit that it was not called with before.
  template <class F>
  void take_conflicts(UnitMember unit, F&& f) {
    UnitMember stands = units_.of_member(unit);
    if (all_units_[stands].conflicts != 0) take_all_conflicts(stands, f);
  }
  // Whether some unit of the thread has some, and how often there were new ones.
  bool any_conflicts(std::size_t thread) const { return threads_[thread].conflicts != 0; }
  std::uint32_t news(std::size_t thread) const { return threads_[thread].news; }
  // The first bytes of blocks, by their views.
  std::unordered_map<ViewIndex, Addr> addresses(const std::vector<ViewIndex>& views) const;

  // Whether there are enough units that no block belongs to any more, and that are nobody's if no
  // register or condition has them, either: it is worth the while to look.
  bool crowded() const { return unowned_.size() > most_unowned_ || used_ > most_used_; }
  // Such a unit can do nothing any more: it has ended. `held`: the members that somebody has.
  void forget_units(std::vector<UnitMember> held);

 private:
  // FSM_STATE, but for what other threads did.
  enum class State : std::uint8_t { kIdle, kLoaded, kStored, kTrueDep };
  // Who else knows of the accesses of a block's first view since they were its first.
  enum class Told : std::uint8_t { kNothing, kRead, kWrite };
  // Of lists that grow in place; 0 is none.
  using NodeIndex = std::uint32_t;
  using ExtraIndex = std::uint32_t;
  static constexpr std::uint32_t kMembers = (1U << 30) - 1;
  static constexpr std::uint32_t kViews = (1U << 29) - 1;
  static constexpr std::uint32_t kExtras = (1U << 28) - 1;

  // A block as one thread sees it. The views of a block are a chain; the first is that of the
  // thread that accessed it last.
  struct View {
    View() = default;
    View(std::size_t owner, ViewIndex others, bool others_tell)
        : hears(others_tell), thread(owner & 0xffffU), next(others & kViews) {}

    // Of the last store, or the first load after others; 0: none.
    std::uint64_t moment : BriefMark::kMomentBits = 0;
    std::uint64_t hears : 1 = 0;  // of accesses of others, at any time: else only `cu` matters
    std::uint64_t thread : 16 = 0;
    Manners::Word manner = 0;     // of it
    std::uint32_t next : 29 = 0;  // of the block, as another thread sees it
    std::uint32_t heard : 1 = 1;  // of an access of another thread since `moment`
    std::uint32_t conflicted : 1 = 0;
    std::uint32_t reader : 1 = 0;  // `extra` is none, but the only unit that had read the block
    std::uint32_t cu : 30 = 0;
    State state : 2 = State::kIdle;
    std::uint32_t extra : 28 = 0;
    std::uint32_t shared : 1 = 0;  // Loaded_Shared, Stored_Shared
    std::uint32_t reads : 1 = 0;   // the block is in the read set of its CU
    Told told : 2 = Told::kNothing;
  };
  static_assert(sizeof(View) == 24);
  // What most views have not, or no more of it than one unit: a conflict that some unit has not
  // been told, and readers. Those in the list of such a unit are a ring; there one stays as it was
  // when its view has another one, or none.
  struct Extra {
    std::uint64_t moment : BriefMark::kMomentBits = 0;  // of the access that conflicts
    std::uint64_t thread : 16 = 0;
    Manners::Word manner = 0;
    ViewIndex view = 0;
    ExtraIndex next : 30 = 0;
    std::uint32_t copied : 1 = 0;  // the conflict is in the lists of several units
    std::uint32_t listed : 1 = 0;
    NodeIndex readers = 0;  // units that had read the block before it came to belong to its CU
  };
  static_assert(sizeof(Extra) == 24);
  struct Node {
    std::uint32_t what = 0;  // a view of a unit, or a unit that had read a block
    NodeIndex next = 0;
  };
  // The views in the read or write set of a unit, and its conflicts.
  struct Unit {
    static constexpr std::uint32_t kSingle = 1U << 31;
    std::uint32_t views = 0;   // the last node of a ring; or a single view, and kSingle
    ExtraIndex conflicts = 0;  // the last one of a ring
    std::uint32_t blocks = 0;  // that belong to it: the views whose CU it is
  };
  struct Thread {
    std::uint64_t conflicts = 0;
    std::uint32_t news = 1;
  };
  static constexpr std::uint64_t kPageBlocks = 1024;
  using Page = std::array<ViewIndex, kPageBlocks>;

  ViewIndex front(std::size_t thread, BlockNumber block) {
    if (block / kPageBlocks != page_number_) {
      page_ = &pages_.make(block / kPageBlocks);
      page_number_ = block / kPageBlocks;
    }
    ViewIndex& first = (*page_)[block % kPageBlocks];
    return first != 0 && views_[first].thread == thread ? first : bring_front(thread, block, first);
  }
  ViewIndex bring_front(std::size_t thread, BlockNumber block, ViewIndex& first);
  template <class F>
  void each_block(std::uint64_t address, std::uint64_t size, F&& f);
  void accessed(View& view, const Touch& access);
  void tell(View& view, const Touch& access);
  void hear(ViewIndex at, const Touch& access);
  void deactivate(UnitMember member);
  void make_idle(View& view);
  void detach(View& view);
  NodeIndex readers(const View& view) const {
    return view.reader != 0 ? 0 : extras_[view.extra].readers;
  }
  Extra& make_extra(ViewIndex at);
  ExtraIndex take_extra();
  void give_back(ExtraIndex extra);
  void give(ViewIndex at, UnitMember unit);
  void had_read(ViewIndex at, UnitMember unit);
  void find_readers(View& view);
  bool worth_looking(const View& view);
  void forget_nodes();
  void disown(const View& view);
  void add_conflict(UnitMember unit, ExtraIndex extra);
  template <class F>
  void take_all_conflicts(UnitMember stands, F&& f);
  NodeIndex make_node(std::uint32_t what, NodeIndex next);
  void give_back_chain(NodeIndex first);
  void add(Unit& unit, ViewIndex view);
  template <class F>
  void take_views(Unit& unit, F&& f);

  Units units_;
  LongList<Unit> all_units_;  // by the member that stands for the unit
  LongList<View> views_;
  LongList<Extra> extras_;
  LongList<Node> nodes_;
  ExtraIndex free_extras_ = 0;  // the first of a chain, as are those of nodes
  NodeIndex free_nodes_ = 0;
  std::size_t used_ = 0;  // extras and nodes
  std::size_t least_records_;
  std::size_t most_used_ = least_records_;  // before some are looked for
  Accessors tellers_;
  PageTable<Page> pages_;
  Page* page_ = nullptr;  // that was asked for last
  std::uint64_t page_number_ = ~std::uint64_t{0};
  static constexpr std::size_t kStep = 16;  // accesses
  std::array<const ViewIndex*, 4 * kStep> soon_;
  std::size_t next_soon_ = 0;
  Manners manners_;
  std::vector<Thread> threads_;
  std::vector<UnitMember> readers_;  // of the view at hand
  struct Unowned {
    UnitMember unit = 0;
    std::uint32_t thread = 0;
  };
  // Before it is worth the while to look who has them, which costs about as much as what registers
  // hold.
  static constexpr std::size_t kMostUnowned = 4096;
  std::vector<Unowned> unowned_;  // units that no block belonged to at some time
  std::size_t most_unowned_;      // before it is looked
};

template <class F>
void OnlineMemory::take_all_conflicts(UnitMember stands, F&& f) {
  ExtraIndex last = std::exchange(all_units_[stands].conflicts, 0);
  for (ExtraIndex at = extras_[last].next;;) {
    Extra& extra = extras_[at];
    ExtraIndex next = extra.next;
    View& view = views_[extra.view];
    bool has_extra = view.reader == 0;
    if (has_extra && view.conflicted != 0 && extras_[view.extra].moment == extra.moment) {
      f(Conflict{manners_.mark({view.moment, view.thread, view.manner}),
                 manners_.mark({extra.moment, extra.thread, extra.manner}), extra.view});
    }
    --threads_[view.thread].conflicts;
    extra.listed = 0;
    if (!has_extra || view.extra != at) {
      give_back(at);
    } else if (extra.copied == 0 && extra.readers == 0) {
      view.extra = 0;
      give_back(at);
    }
    if (at == last) return;
    at = next;
  }
}

}  // namespace svd
