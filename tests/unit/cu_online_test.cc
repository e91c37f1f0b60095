// SPDX-License-Identifier: Apache-2.0
//
// The online detector against Figure 7 as it stands in the SVD paper, on random runs of statements,
// and the arcs of Figure 8 one by one.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "detectors/online.h"
#include "detectors/scan.h"
#include "detectors/skipper.h"
#include "support/detector_run.h"
#include "support/random_runs.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using Number = std::size_t;  // of threads, variables, statements, CUs
constexpr Number kNone = std::numeric_limits<Number>::max();
constexpr Number kThreads = 3, kVariables = 9;

struct S {
  Number thread = 0;
  Number left = kNone;            // variable that is stored
  std::vector<Number> right{};    // that are loaded
  std::vector<Number> address{};  // that are loaded for the address of the store
  Number by = kNone;              // statement of the thread that decided
};
using Statements = std::vector<S>;

// Local access and remote access, each with whether it writes, and the first store that is told.
using Told = std::map<std::tuple<Number, bool, Number, bool>, Number>;

// Figures 7 and 8: an instance of the algorithm for each thread.
class Figure7 {
 public:
  explicit Figure7(Number thread) : thread_(thread) {}

  void run(const S& s, Number at, std::vector<Figure7>& all) {
    std::set<Number> data, address, control;
    for (Number v : s.right) {
      load(v, at, data);
      message(v, at, false, all);
    }
    for (Number v : s.address) {
      load(v, at, address);
      message(v, at, false, all);
    }
    for (Number by = s.by; by != kNone; by = by_[by])
      control.insert(conditions_[by].begin(), conditions_[by].end());
    if (s.left != kNone) {
      std::set<Number> cu_set = data;
      cu_set.insert(address.begin(), address.end());
      cu_set.insert(control.begin(), control.end());
      check_violations(cu_set, at);
      store(s.left, at, data);
      message(s.left, at, true, all);
    }
    for (Number v : s.right) data.insert(blocks_[v].cu);  // as they are called now
    std::erase_if(data, [this](Number cu) { return cus_.count(cu) == 0; });
    conditions_[at] = data;
    by_[at] = s.by;
  }

  Told told;

 private:
  enum State { kIdle, kLoaded, kLoadedShared, kStored, kStoredShared, kTrueDep };
  struct Block {
    State state = kIdle;
    Number cu = kNone;
    Number local = kNone, remote = kNone;
    bool local_writes = false, remote_writes = false, heard = true;
  };
  struct Cu {
    std::set<Number> rs, ws;
    std::set<std::pair<Number, Number>> reported;  // block and conflict
  };

  void message(Number v, Number at, bool writes, std::vector<Figure7>& all) const {
    for (Figure7& other : all)
      if (other.thread_ != thread_) other.remote_access(v, at, writes);
  }

  Number new_cu() {
    cus_[next_cu_];
    return next_cu_++;
  }

  void touch(Block& block, Number at, bool writes) {
    if (!(block.heard || writes) || block.remote != kNone) return;
    block.local = at, block.local_writes = writes, block.heard = false;
  }

  void load(Number v, Number at, std::set<Number>& into) {
    Block& block = blocks_[v];
    if (block.state == kStoredShared) deactivate(block.cu, &into);
    if (block.cu == kNone) block.cu = new_cu();
    cus_[block.cu].rs.insert(v);
    if (block.state == kIdle) block.state = kLoaded;
    if (block.state == kStored) block.state = kTrueDep;
    touch(block, at, false);
    into.insert(block.cu);
  }

  void store(Number v, Number at, const std::set<Number>& data) {
    Block& block = blocks_[v];
    Number cu = merge_and_update(data);
    block.cu = cu;
    cus_[cu].ws.insert(v);
    if (block.state == kIdle || block.state == kLoaded) block.state = kStored;
    if (block.state == kLoadedShared) block.state = kStoredShared;
    touch(block, at, true);
  }

  void remote_access(Number v, Number at, bool writes) {
    Block& block = blocks_[v];
    if (block.state == kTrueDep) {
      block.heard = true;
      deactivate(block.cu, nullptr);
      return;
    }
    bool conflict = block.state == kStored || block.state == kStoredShared ||
                    (writes && (block.state == kLoaded || block.state == kLoadedShared));
    if (block.state == kLoaded) block.state = kLoadedShared;
    if (block.state == kStored) block.state = kStoredShared;
    if (block.remote != kNone) return;
    block.heard = true;
    if (conflict) block.remote = at, block.remote_writes = writes;
  }

  void check_violations(const std::set<Number>& cu_set, Number at) {
    for (Number cu : cu_set) {
      if (cus_.count(cu) == 0) continue;
      for (Number v : cus_[cu].rs) {
        const Block& block = blocks_[v];
        if (block.remote == kNone || !cus_[cu].reported.insert({v, block.remote}).second) continue;
        told.insert({{block.local, block.local_writes, block.remote, block.remote_writes}, at});
      }
    }
  }

  Number merge_and_update(const std::set<Number>& data) {
    Number all = kNone;
    for (Number cu : data) {
      if (cus_.count(cu) == 0) continue;
      if (all == kNone) {
        all = cu;
        continue;
      }
      Cu& into = cus_[all];
      Cu from = cus_[cu];
      into.rs.insert(from.rs.begin(), from.rs.end());
      into.ws.insert(from.ws.begin(), from.ws.end());
      into.reported.insert(from.reported.begin(), from.reported.end());
      for (auto& [v, block] : blocks_)
        if (block.cu == cu) block.cu = all;
      for (auto& [s, condition] : conditions_)
        if (condition.erase(cu) != 0) condition.insert(all);
      cus_.erase(cu);
    }
    return all == kNone ? new_cu() : all;
  }

  void deactivate(Number cu, std::set<Number>* registers) {
    Cu ended = cus_[cu];
    cus_.erase(cu);
    ended.rs.insert(ended.ws.begin(), ended.ws.end());
    for (Number v : ended.rs) {
      blocks_[v].state = kIdle;
      blocks_[v].remote = kNone;
    }
    for (auto& [v, block] : blocks_)
      if (block.cu == cu) block.cu = kNone;
    for (auto& [s, condition] : conditions_) condition.erase(cu);
    if (registers != nullptr) registers->erase(cu);
  }

  Number thread_;
  Number next_cu_ = 0;
  std::map<Number, Cu> cus_;
  std::map<Number, Block> blocks_;
  std::map<Number, std::set<Number>> conditions_;  // of each statement
  std::map<Number, Number> by_;
};

Told figure7(const Statements& run) {
  std::vector<Figure7> threads;
  for (Number t = 0; t < kThreads; ++t) threads.emplace_back(t);
  for (Number s = 0; s < run.size(); ++s) threads[run[s].thread].run(run[s], s, threads);
  Told all;
  for (Figure7& thread : threads) {
    for (auto [key, store] : thread.told) {
      auto [known, added] = all.insert({key, store});
      if (!added) known->second = std::min(known->second, store);
    }
  }
  return all;
}

// Variables 0 to 2 are for all threads, and two more for each one.
Statements random_run(std::mt19937_64& random) {
  auto below = [&random](Number end) { return Number(random() % static_cast<unsigned>(end)); };
  Number threads = 2 + below(kThreads - 1);
  Statements run(2 + below(20));
  for (Number i = 0; i < run.size(); ++i) {
    S& s = run[i];
    s.thread = below(threads);
    auto variable = [&] { return below(2) == 0 ? below(3) : 3 + 2 * s.thread + below(2); };
    for (Number n = below(3); n > 0; --n) s.right.push_back(variable());
    if (below(3) != 0) s.left = variable();
    if (s.left != kNone && below(3) == 0) s.address.push_back(variable());
    if (below(3) != 0) continue;
    std::vector<Number> earlier;
    for (Number j = 0; j < i; ++j)
      if (run[j].thread == s.thread) earlier.push_back(j);
    if (!earlier.empty()) s.by = earlier[below(earlier.size())];
  }
  return run;
}

std::string text_of(const Statements& run) {
  std::string text = "svd-trace 1\nprocess engine=text\n";
  for (Number v = 0; v < kVariables; ++v) text += "var v" + std::to_string(v) + " 4\n";
  for (Number i = 0; i < run.size(); ++i) {
    text += "stmt s" + std::to_string(i) + " \"s\"";
    if (run[i].by != kNone) text += " by s" + std::to_string(run[i].by);
    text += "\n";
  }
  for (Number i = 0; i < run.size(); ++i) {
    text += "T" + std::to_string(run[i].thread + 1) + " s" + std::to_string(i);
    for (Number v : run[i].right) text += " r v" + std::to_string(v) + "=0";
    for (Number v : run[i].address) text += " ra v" + std::to_string(v) + "=0";
    if (run[i].left != kNone) text += " w v" + std::to_string(run[i].left) + "=0";
    text += "\n";
  }
  return text;
}

Told pass(const std::string& text, std::size_t least_records = OnlineDetector::kLeastRecords) {
  TempFile file;
  TraceReader trace = assembled(text, file);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  OnlineDetector detector("svd-online", scan.threads(), least_records);
  scan.add(detector);
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
    SVD_CHECK(trace.decode(i, chunk));
    scan.chunk(i, chunk);
  }
  Told told;
  // Moments count from 1, and there are no events.
  auto number = [](const RawAccess& access) { return Number(access.moment.value) - 1; };
  auto writes = [](const RawAccess& access) { return access.kind != TouchKind::kRead; };
  for (const RawFinding& finding : detector.findings()) {
    const RawAccess &local = finding.accesses[0], &remote = finding.accesses[1];
    told[{number(local), writes(local), number(remote), writes(remote)}] =
        number(finding.accesses[2]);
  }
  return told;
}

TEST(Online, IsWhatFigure7Says) {
  std::uint64_t runs = random_runs(2'000);
  std::uint64_t found = 0, silent = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    std::mt19937_64 random(seed);
    Statements run = random_run(random);
    std::string text = text_of(run);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    Told told = figure7(run);
    ASSERT_EQ(pass(text), told);
    ASSERT_EQ(pass(text, 0), told);  // what is not needed any more is forgotten early
    found += told.size();
    silent += told.empty() ? 1 : 0;
  }
  // The runs have something to find, and not everything.
  EXPECT_GT(found, runs / 4);
  EXPECT_GT(silent, runs / 4);
}

// Thread 1 takes x to a state, and goes on with it; thread 2 is between.
std::size_t violations(const std::vector<S>& run) { return pass(text_of(run)).size(); }
constexpr Number kX = 0, kY = 1;
const S kLoad{.right = {kX}, .address = {}}, kStore{.left = kX, .right = {}, .address = {}};
const S kUse{.left = kY, .right = {kX}, .address = {}};
const S kTheirWrite{.thread = 1, .left = kX, .right = {}, .address = {}};
const S kTheirRead{.thread = 1, .right = {kX}, .address = {}};

TEST(Figure8, WhatWasLoadedConflictsWithAWriteOnly) {
  EXPECT_EQ(violations({kLoad, kTheirWrite, kUse}), 1U);
  EXPECT_EQ(violations({kLoad, kTheirRead, kUse}), 0U);
}

TEST(Figure8, LoadingWhatWasStoredAndSharedEndsTheUnit) {
  EXPECT_EQ(violations({kStore, kTheirRead, kUse}), 0U);
  // A store of the same unit before that: Loaded_Shared becomes Stored_Shared.
  S update{.left = kX, .right = {kX}, .address = {}};
  EXPECT_EQ(violations({kLoad, kTheirWrite, update}), 1U);
  EXPECT_EQ(violations({kLoad, kTheirRead, update, kUse}), 0U);
}

TEST(Figure8, AnAccessOfAnotherThreadEndsATrueDependence) {
  S mine{.left = 3, .right = {kX}, .address = {}};
  S again{.left = kY, .right = {3}, .address = {}};
  EXPECT_EQ(violations({kStore, mine, kTheirWrite, again}), 0U);
  EXPECT_EQ(violations({kLoad, mine, kTheirWrite, again}), 1U);
}

// A branch over one instruction, and one over a part that ends with a jump over the other part.
TEST(Skipper, GuessesWhereControlComesTogether) {
  TraceBuilder trace;
  Block block;
  block.code = {0x74, 0x01, 0x90,                    // 0: je 3; nop
                0x74, 0x03, 0x90, 0xeb, 0x01, 0x90,  // 3: je 8; nop; jmp 9; 8: nop
                0x74, 0xf5, 0xc3};                   // 9: je 0; ret
  std::uint64_t pc = 0x1000;
  for (std::uint8_t length : std::initializer_list<std::uint8_t>{2, 1, 2, 1, 2, 1, 2, 1}) {
    block.instructions.push_back({Pc(pc), length});
    pc += length;
  }
  trace.writer().add(block);
  Skipper skipper(trace.finish());
  EXPECT_EQ(skipper.reconvergence(Pc(0x1000)), Pc(0x1003));
  EXPECT_EQ(skipper.reconvergence(Pc(0x1003)), Pc(0x1009));
  EXPECT_EQ(skipper.reconvergence(Pc(0x1009)), std::nullopt);  // a loop
}

}  // namespace
}  // namespace svd::test
