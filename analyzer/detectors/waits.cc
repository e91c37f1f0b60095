// SPDX-License-Identifier: Apache-2.0

#include "detectors/waits.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "detectors/scan.h"

namespace svd {
namespace {

constexpr std::array<std::uint32_t, 3> kPauses{24, 35, 230};  // sched_yield, nanosleep, clock_…

using LoopNumber = std::uint16_t;  // from 1; 0: none that could have effects
constexpr LoopNumber kNoRead = 0xffff;

bool has_effect(const Event& event) {
  if (const auto* call = std::get_if<SyscallEnter>(&event.body))
    return std::find(kPauses.begin(), kPauses.end(), call->number) == kPauses.end();
  return std::holds_alternative<Sync>(event.body) ||
         std::holds_alternative<ThreadCreate>(event.body) ||
         std::holds_alternative<ThreadJoin>(event.body) ||
         std::holds_alternative<Allocation>(event.body) ||
         std::holds_alternative<Release>(event.body) || std::holds_alternative<Mapping>(event.body);
}

// The code of the loops, as far as it ran.
struct LoopCode {
  LoopNumber loops = 0;
  std::vector<std::vector<LoopNumber>> blocks;  // of each instruction; empty: not near any loop
  std::vector<LoopNumber> reads;                // by site
};

class LoopFinder {
 public:
  LoopFinder(const Preparation& run, const Sites& sites) : run_(run), sites_(sites) {
    code_.blocks.resize(run.trace.blocks().size());
  }

  LoopCode find() {
    find_compiled();
    find_abstract();
    return std::move(code_);
  }

 private:
  void find_compiled() {
    const ControlFlow& flow = run_.flow.get();
    std::unordered_map<Pc, LoopNumber> reads;
    std::vector<const WaitLoop*> loops;
    std::unordered_map<std::uint32_t, std::vector<LoopNumber>> loops_of;  // by function
    for (const WaitLoop& loop : flow.wait_loops()) {
      if (run_.names.code(loop.reads.front()).system) continue;
      loops.push_back(&loop);
      auto number = static_cast<LoopNumber>(loops.size());
      loops_of[loop.function].push_back(number);
      for (Pc pc : loop.reads) reads.emplace(pc, number);
    }
    if (loops.empty()) return;
    for (std::size_t b = 0; b < run_.trace.blocks().size(); ++b) {
      const Block& block = run_.trace.blocks()[b];
      if (block.abstract() || block.instructions.empty() ||
          loops_of.count(flow.at(block.instructions.front().pc).function) == 0)
        continue;
      for (std::size_t i = 0; i < block.instructions.size(); ++i) {
        Pc pc = block.instructions[i].pc;
        auto holds = [&](LoopNumber number) {
          const WaitLoop& loop = *loops[number - 1U];
          return std::any_of(loop.blocks.begin(), loop.blocks.end(),
                             [pc](const auto& r) { return r.begin <= pc && pc <= r.last; });
        };
        const std::vector<LoopNumber>& here = loops_of[flow.at(pc).function];
        auto inside = std::find_if(here.begin(), here.end(), holds);
        code_.blocks[b].push_back(inside == here.end() ? LoopNumber{0} : *inside);
        auto read = reads.find(pc);
        if (read != reads.end()) add_read(b, i, read->second);
      }
    }
    code_.loops = static_cast<LoopNumber>(loops.size());
  }

  void find_abstract() {
    std::vector<Statement> statements(run_.trace.statements().begin(),
                                      run_.trace.statements().end());
    std::vector<bool> waits(statements.size());
    for (std::uint32_t s = 0; s < statements.size(); ++s)
      waits[s] = statements[s].controlled_by == std::vector{StatementId(s)};
    for (std::uint32_t s = 0; s < statements.size(); ++s)
      for (StatementId by : statements[s].controlled_by)
        if (by != StatementId(s)) waits[by.value] = false;
    for (const Block& block : run_.trace.blocks())
      for (const Slot& slot : block.slots)
        if (block.abstract() && slot.write) waits[block.statements[slot.instruction].value] = false;
    for (std::size_t b = 0; b < run_.trace.blocks().size(); ++b) {
      const Block& block = run_.trace.blocks()[b];
      for (std::size_t i = 0; block.abstract() && i < block.size(); ++i)
        if (waits[block.statements[i].value]) add_read(b, i, 0);
    }
  }

  void add_read(std::size_t block, std::size_t instruction, LoopNumber loop) {
    SiteId site = sites_.of(BlockId(static_cast<std::uint32_t>(block)), instruction);
    if (code_.reads.empty()) code_.reads.assign(sites_.size(), kNoRead);
    code_.reads[site.value] = loop;
  }

  const Preparation& run_;
  const Sites& sites_;
  LoopCode code_;
};

// The walk: which loops had effects, and what was waited for.
class WaitScan final : public Detector {
 public:
  WaitScan(LoopCode code, std::size_t threads)
      : code_(std::move(code)), threads_(threads), effects_(code_.loops + 1U) {}

  void access(const Touch& access) override { pending_.push_back(access); }
  void fresh(Addr address, std::uint64_t size) override {
    births_.bear(address.value, address.value + size, ++lifetimes_);
  }
  bool follows_execution() const override { return true; }

  void happened(const Event& event, ThreadIndex thread) override {
    if (has_effect(event)) effects_[threads_[thread.value].loop] = true;
  }

  void executed(const Exec& exec, ThreadIndex thread, Moment first) override {
    Thread& state = threads_[thread.value];
    auto touch = pending_.begin();
    // By the kernel.
    for (; touch != pending_.end() && touch->moment < first; ++touch)
      if (touch->writes()) effects_[threads_[touch->thread.value].loop] = true;
    const std::vector<LoopNumber>& near = code_.blocks[exec.shape->id.value];
    const Part& part = exec.shape->part;
    if (near.empty()) {
      for (; touch != pending_.end(); ++touch) {
        // A frame of what the loop called lies below its own.
        if (touch->writes() && touch->address >= state.own_frame) effects_[state.loop] = true;
        note(*touch);
      }
    }
    for (std::uint16_t i = part.first; i < part.end && !near.empty(); ++i) {
      state.loop = near[i];
      Moment moment = first + static_cast<std::uint64_t>(i - part.first);
      for (; touch != pending_.end() && touch->moment == moment; ++touch) {
        if (touch->writes()) state.own_frame = touch->address;
        note(*touch);
      }
    }
    pending_.clear();
  }

  std::vector<RawFinding> findings() override { return {}; }

  SharedInLifetime take() {
    SharedInLifetime flags(lifetimes_ + 1);
    for (const Flag& flag : flags_)
      if (waits(flag.loop)) flags[flag.lifetime].push_back({flag.address, flag.size});
    return flags;
  }
  bool waits(LoopNumber loop) const { return loop != kNoRead && (loop == 0 || !effects_[loop]); }
  const std::vector<LoopNumber>& reads() const { return code_.reads; }

 private:
  struct Thread {
    LoopNumber loop = 0;  // that it is in
    Addr own_frame{};     // where the loop has stored last
  };
  struct Flag {
    std::size_t lifetime;
    Addr address;
    std::uint64_t size;
    LoopNumber loop;
    auto operator<=>(const Flag&) const = default;
  };

  void note(const Touch& touch) {
    LoopNumber loop = code_.reads[touch.site.value];
    if (loop == kNoRead || touch.writes()) return;
    flags_.insert({births_.lifetime(touch.address), touch.address, touch.size, loop});
  }

  LoopCode code_;
  std::vector<Thread> threads_;
  std::vector<bool> effects_;  // by loop; that of 0 means nothing
  std::vector<Touch> pending_;
  Births births_;
  std::size_t lifetimes_ = 0;
  std::set<Flag> flags_;
};

}  // namespace

std::optional<Waits> Waits::of(const Preparation& run, Detector& companion) {
  LockSets lock_sets;
  Scan scan(run, lock_sets);
  LoopCode code = LoopFinder(run, scan.sites()).find();
  if (code.reads.empty()) return std::nullopt;
  WaitScan walk(std::move(code), scan.threads());
  scan.add(walk);
  scan.add(companion);
  scan.walk(Columns{.values = false});
  Waits waits;
  for (LoopNumber loop : walk.reads()) waits.reads_.push_back(walk.waits(loop));
  if (waits.places() == 0) waits.reads_.clear();
  if (waits.any()) waits.flags_ = SharedBytes(walk.take());
  return waits;
}

}  // namespace svd
