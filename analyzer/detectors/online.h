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
#include <vector>

#include "cu/control_stack.h"
#include "cu/tag_sets.h"
#include "cu/units.h"
#include "detectors/detector.h"
#include "detectors/skipper.h"
#include "dpdg/code_table.h"
#include "dpdg/control_tracker.h"

namespace svd {

class OnlineDetector final : public Detector {
 public:
  OnlineDetector(std::string_view name, std::size_t threads)
      : name_(name),
        units_(threads),
        sets_(units_, [this](UnitMember a, UnitMember b) { join(a, b); }),
        threads_(threads) {}

  void prepare(const Preparation& run) override;
  void access(const Touch& access) override { pending_.push_back(access); }
  void fresh(Addr address, std::uint64_t size) override;
  bool follows_execution() const override { return true; }
  void executed(const Exec& exec, ThreadIndex thread, Moment first) override;
  void happened(const Event& event, ThreadIndex) override { tracker_->event(event); }
  std::vector<RawFinding> findings() override;

  std::uint64_t units() const { return units_.count(); }

 private:
  // FSM_STATE of Figure 7.
  enum class State : std::uint8_t {
    kIdle,
    kLoaded,
    kLoadedShared,
    kStored,
    kStoredShared,
    kTrueDep
  };
  static constexpr std::uint64_t kBlock = 4;  // bytes: "word-size blocks", section 6.2
  using BlockNumber = std::uint64_t;          // address / kBlock

  // BLK_T: a block as one thread sees it.
  struct View {
    std::uint16_t thread = 0;
    State state = State::kIdle;
    UnitMember cu = 0;
    std::uint32_t tidy_at = 8;        // so many readers
    bool heard = true;                // of an access of another thread since `local`
    Mark local;                       // the last store, or the first load after others
    Mark remote;                      // that conflicts with it; moment 0: none
    std::vector<UnitMember> readers;  // CUs that have it in their read set

    void accessed(const Mark& mark) {
      bool store = mark.kind != static_cast<std::uint32_t>(TouchKind::kRead);
      if (mark.moment == 0 || !(heard || store) || remote.moment != 0) return;
      local = mark;
      heard = false;
    }
  };
  using Views = std::vector<View>;
  // A block of a CU's read set that another thread conflicted with since.
  struct Conflict {
    BlockNumber block = 0;
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
  using Page = std::array<Views, kPageBlocks>;

  void step(const Exec& exec, std::size_t thread, std::uint16_t index, Seq parent, Moment moment);
  void access(std::size_t thread, const MemoryAccess& memory, const Mark& mark, Operands& operands);
  void load(std::size_t thread, BlockNumber block, const Mark& mark, TagSet& into);
  void store(std::size_t thread, BlockNumber block, const Mark& mark, UnitMember cu);
  void remote(const Touch& access);
  void remote(View& view, BlockNumber block, const Touch& access);
  void check(std::size_t thread, const Operands& operands, Moment store);
  void check(std::size_t thread, TagSet set, Moment store);
  void report(std::size_t thread, const View& view, BlockNumber block, Moment store);
  UnitMember merge(std::size_t thread, TagSet data);
  UnitMember join(UnitMember a, UnitMember b);
  template <class T>
  T take(std::unordered_map<UnitMember, T>& from, UnitMember unit);
  void add_conflict(UnitMember unit, const View& view, BlockNumber block);
  void deactivate(std::size_t thread, UnitMember cu);
  void tidy(View& view);
  void reads(UnitMember cu, View& view, BlockNumber block);
  const Touch* touch(Moment moment, Addr address, bool write);

  Views& views(BlockNumber block);
  View& view(std::size_t thread, BlockNumber block);
  // CU_T
  std::vector<BlockNumber>& blocks(UnitMember member) { return blocks_[units_.of_member(member)]; }

  std::string_view name_;
  Units units_;
  TagSets sets_;
  // By the member that stands for the unit. Few have conflicts, and every store asks for them.
  std::unordered_map<UnitMember, std::vector<BlockNumber>> blocks_;
  std::unordered_map<UnitMember, std::vector<Conflict>> conflicts_;
  std::uint32_t news_ = 1;  // how often a unit got conflicts
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Page* page_ = nullptr;
  std::unique_ptr<CodeTable> code_;
  std::optional<ControlTracker> tracker_;
  Skipper skipper_;
  bool abstract_ = false;
  std::vector<Touch> pending_;  // of the execution at hand
  std::size_t next_ = 0;        // of pending_
  std::vector<MemoryAccess> memories_;
  std::size_t next_memory_ = 0;
  std::vector<std::pair<std::uint16_t, Seq>> segments_;
  std::unordered_map<std::uint64_t, RawFinding> found_;
};

}  // namespace svd
