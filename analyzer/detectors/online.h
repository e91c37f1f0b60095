// SPDX-License-Identifier: Apache-2.0
//
// The online detector of the SVD paper as it was published (Figures 7 and 8), run over a trace.
// online.cc has the definition.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cu/control_stack.h"
#include "cu/tag_sets.h"
#include "cu/units.h"
#include "detectors/detector.h"
#include "detectors/long_list.h"
#include "detectors/skipper.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"
#include "dpdg/page_table.h"

namespace svd {

class OnlineDetector final : public Detector {
 public:
  // What nothing can follow from any more is looked for when so many places in read and write sets
  // are in use.
  static constexpr std::size_t kLeastNodes = std::size_t{1} << 20;  // 8 MB

  OnlineDetector(std::string_view name, std::size_t threads, std::size_t least_nodes = kLeastNodes)
      : name_(name),
        least_nodes_(least_nodes),
        units_(threads),
        sets_(units_, [this](UnitMember a, UnitMember b) { join(a, b); }),
        threads_(threads) {
    // What 0 stands for.
    all_units_.push_back({});
    nodes_.push_back({});
    views_.push_back({});
    rares_.push_back({});
  }

  void prepare(const Preparation& run) override;
  void access(const Touch& access) override { pending_.push_back(access); }
  void fresh(Addr address, std::uint64_t size) override;
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override;
  void happened(const Event& event, ThreadIndex) override {
    if (abstract_) tracker_->event(event);
  }
  std::vector<RawFinding> findings() override;

  std::uint64_t units() const { return units_.count(); }

 private:
  // FSM_STATE of Figure 7, but for what other threads did.
  enum class State : std::uint8_t { kIdle, kLoaded, kStored, kTrueDep };
  static constexpr std::uint64_t kBlock = 4;  // bytes: "word-size blocks", section 6.2
  using BlockNumber = std::uint64_t;          // address / kBlock
  // Of lists that grow in place; 0 is none.
  using ViewIndex = std::uint32_t;
  using NodeIndex = std::uint32_t;
  using RareIndex = std::uint32_t;
  static constexpr UnitMember kMembers = (UnitMember{1} << 30) - 1;
  static constexpr NodeIndex kNodes = (NodeIndex{1} << 31) - 1;

  // BLK_T: a block as one thread sees it.
  struct View {
    View() = default;
    View(std::size_t thread, ViewIndex others) : next(others) { local.thread = thread & 0xffffU; }

    Mark local;              // the last store, or the first load after others; and the thread
    ViewIndex next = 0;      // of the block, as another thread sees it
    RareIndex rare = 0;      // see Rare
    UnitMember cu : 30 = 0;  // of kMembers
    State state : 2 = State::kIdle;
    UnitMember reader : 30 = 0;    // the last CU that got it into its read set
    std::uint32_t shared : 1 = 0;  // Loaded_Shared, Stored_Shared
    std::uint32_t heard : 1 = 1;   // of an access of another thread since `local`
  };
  static_assert(sizeof(View) == 32);
  // What most views have not.
  struct Rare {
    Mark remote;  // that conflicts with the local access; moment 0: none
    std::unique_ptr<std::vector<UnitMember>> readers{};  // before the last one
  };
  // A view in the read or write set of a unit. Each unit's are a ring, so that two become one at
  // once.
  struct Node {
    ViewIndex view = 0;
    NodeIndex next = 0;
  };
  // CU_T
  struct Unit {
    NodeIndex last : 31 = 0;
    std::uint32_t conflicted : 1 = 0;  // there is something in conflicts_
  };
  // A block of a CU's read set that another thread conflicted with since.
  struct Conflict {
    BlockNumber block = 0;
    ViewIndex view = 0;
    std::uint64_t moment = 0;
  };
  struct Thread {
    std::vector<TagSet> cells;  // REG_T
    SkipperStack branches;
    ControlStack statements{true};  // of an abstract trace
  };
  // What an instruction's operands follow from.
  struct Operands {
    TagSet data, address, condition;
  };
  static constexpr std::uint64_t kPageBlocks = 1024;
  using Page = std::array<ViewIndex, kPageBlocks>;

  void step(const Exec& exec, const Step& step, std::size_t thread, std::uint16_t index,
            Moment moment);
  void access(std::size_t thread, const MemoryAccess& memory, const Mark& mark, Operands& operands);
  void load(std::size_t thread, BlockNumber block, const Mark& mark, TagSet& into);
  void store(std::size_t thread, BlockNumber block, const Mark& mark, UnitMember cu);
  void remote(const Touch& access);
  void remote(ViewIndex at, BlockNumber block, const Touch& access);
  void check(std::size_t thread, const Operands& operands, Moment store);
  void check(std::size_t thread, TagSet set, Moment store);
  void report(std::size_t thread, const View& view, BlockNumber block, Moment store);
  UnitMember begin(std::size_t thread);
  UnitMember merge(std::size_t thread, TagSet data);
  UnitMember join(UnitMember a, UnitMember b);
  void add_conflict(UnitMember unit, ViewIndex view, BlockNumber block);
  std::vector<Conflict> take_conflicts(UnitMember unit);
  void deactivate(std::size_t thread, UnitMember cu);
  void reads(UnitMember cu, ViewIndex at, BlockNumber block);
  const Touch* touch(Moment moment, Addr address, bool write);

  ViewIndex& first_view(BlockNumber block);
  ViewIndex view(std::size_t thread, BlockNumber block);
  void accessed(View& view, const Mark& mark);
  void make_idle(View& view);
  Rare& rare(View& view);
  std::uint64_t conflict(const View& view) const { return rares_[view.rare].remote.moment; }
  void find_readers(const View& view);
  void add(UnitMember unit, ViewIndex view);
  template <class F>
  void take_views(Unit& unit, F&& f);
  template <class F>
  void each_held(F&& f);
  void forget_sets();
  void forget_units();
  void forget_readers(View& view, const std::vector<bool>& needed);
  Pc reconvergence(BlockId block, std::size_t index);

  std::string_view name_;
  std::size_t least_nodes_;
  Units units_;
  TagSets sets_;
  LongList<Unit> all_units_;  // by the member that stands for the unit
  LongList<View> views_;
  LongList<Rare> rares_;
  std::vector<RareIndex> free_rares_;
  LongList<Node> nodes_;
  NodeIndex free_nodes_ = 0;  // the first of a chain
  std::size_t used_nodes_ = 0;
  std::size_t most_nodes_ = least_nodes_;  // that may be used before some are looked for
  // Few units have conflicts, and every store asks for them.
  std::unordered_map<UnitMember, std::vector<Conflict>> conflicts_;
  std::uint32_t news_ = 1;  // how often a unit got conflicts
  std::vector<Thread> threads_;
  PageTable<Page> pages_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Page* page_ = nullptr;
  const CodeTable* code_ = nullptr;
  std::optional<ControlTracker> tracker_;  // of an abstract trace
  Skipper skipper_;
  std::vector<std::vector<Pc>> reconvergence_;  // by block and instruction
  bool abstract_ = false;
  std::vector<Touch> pending_;  // of the execution at hand
  std::size_t next_ = 0;        // of pending_
  std::vector<MemoryAccess> memories_;
  std::size_t next_memory_ = 0;
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
  std::vector<UnitMember> readers_;  // of the view at hand
  std::unordered_map<std::uint64_t, RawFinding> found_;
};

}  // namespace svd
