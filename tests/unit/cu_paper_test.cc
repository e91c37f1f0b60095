// SPDX-License-Identifier: Apache-2.0
//
// The units and violations of the SVD paper: Figures 5 and 6 and Definitions 1 to 3 written down as
// they stand there, and what the pass says of random runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "detectors/cycles.h"
#include "detectors/paper_two_phase.h"
#include "detectors/scan.h"
#include "support/detector_run.h"
#include "support/random_runs.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using Number = std::size_t;  // of threads, variables, statements
constexpr Number kNone = std::numeric_limits<Number>::max();

struct S {
  Number thread = 0;
  Number left = kNone;          // variable that is stored
  std::vector<Number> right{};  // that are loaded
  Number by = kNone;            // statement of the thread that decided
};
using Statements = std::vector<S>;

// Of each statement, the first statement of its unit.
using Partition = std::vector<Number>;

bool reads(const S& s, Number v) { return std::count(s.right.begin(), s.right.end(), v) != 0; }

std::set<Number> shared_variables(const Statements& run) {
  std::map<Number, std::set<Number>> threads;
  std::set<Number> written, shared;
  for (const S& s : run) {
    for (Number v : s.right) threads[v].insert(s.thread);
    if (s.left == kNone) continue;
    threads[s.left].insert(s.thread);
    written.insert(s.left);
  }
  for (const auto& [v, by] : threads)
    if (by.size() > 1 && written.count(v) != 0) shared.insert(v);
  return shared;
}

// The last statement of the same thread that stored v.
Number writer_of(const Statements& run, Number at, Number v) {
  for (Number i = at; i-- > 0;)
    if (run[i].thread == run[at].thread && run[i].left == v) return i;
  return kNone;
}

Partition normal(const std::vector<Number>& units) {
  std::map<Number, Number> first;
  Partition partition;
  for (std::size_t i = 0; i < units.size(); ++i)
    partition.push_back(first.emplace(units[i], i).first->second);
  return partition;
}

// Figure 5.
Partition figure5(const Statements& run) {
  struct Cu {
    std::set<Number> stmts, sh_vars;
    bool active = true;
  };
  std::set<Number> shared = shared_variables(run);
  std::vector<Cu> cus(run.size());
  std::vector<Number> cu(run.size());
  for (Number thread = 0; thread < 4; ++thread) {
    for (Number s = 0; s < run.size(); ++s) {
      if (run[s].thread != thread) continue;
      std::set<Number> dep_pred;
      for (Number v : run[s].right)
        if (Number st = writer_of(run, s, v); st != kNone) dep_pred.insert(st);
      if (run[s].by != kNone) dep_pred.insert(run[s].by);
      for (Number v : run[s].right)
        for (Number st : dep_pred)
          if (cus[cu[st]].active && cus[cu[st]].sh_vars.count(v) != 0) cus[cu[st]].active = false;
      Cu& own = cus[s];
      cu[s] = s;
      std::set<Number> merged;
      for (Number st : dep_pred)
        if (cus[cu[st]].active) merged.insert(cu[st]);
      for (Number other : merged) {
        own.stmts.insert(cus[other].stmts.begin(), cus[other].stmts.end());
        own.sh_vars.insert(cus[other].sh_vars.begin(), cus[other].sh_vars.end());
      }
      for (Number st : own.stmts) cu[st] = s;
      own.stmts.insert(s);
      if (run[s].left != kNone && shared.count(run[s].left) != 0) own.sh_vars.insert(run[s].left);
    }
  }
  return normal(cu);
}

// Definitions 1 to 3. Which vertices the crossing arcs of (b, a) are connected with a through: all
// of them, or only those that were executed before b.
enum class Connected { kThroughAll, kThroughEarlier };

Partition definitions(const Statements& run, Connected connected) {
  struct Arc {
    Number later, earlier;
  };
  std::set<Number> shared = shared_variables(run);
  std::vector<Arc> arcs, shared_arcs;  // the latter by their later vertex
  for (Number s = 0; s < run.size(); ++s) {
    for (Number v : run[s].right) {
      Number st = writer_of(run, s, v);
      if (st != kNone) (shared.count(v) != 0 ? shared_arcs : arcs).push_back({s, st});
    }
    if (run[s].by != kNone) arcs.push_back({s, run[s].by});
  }
  auto components = [&](Number end) {
    std::vector<Number> component(run.size());
    for (std::size_t i = 0; i < run.size(); ++i) component[i] = i;
    for (const Arc& arc : arcs) {
      if (arc.later >= end) continue;
      Number from = component[arc.later], to = component[arc.earlier];
      std::replace(component.begin(), component.end(), from, to);
    }
    return component;
  };
  Number end = run.size();
  for (const Arc& e : shared_arcs) {
    std::vector<Number> component = components(connected == Connected::kThroughAll ? end : e.later);
    std::erase_if(arcs, [&](const Arc& arc) {
      return arc.later >= e.later && component[arc.earlier] == component[e.earlier];
    });
  }
  return normal(components(end));
}

// Figure 6: of each access the first statement of another thread that conflicts with it, if the
// unit goes on after that.
using Pairs = std::set<std::pair<Number, Number>>;

Pairs figure6(const Statements& run, const Partition& cu) {
  std::map<Number, Number> max_seq;
  Number size = run.size();
  for (Number s = 0; s < size; ++s) max_seq[cu[s]] = std::max(max_seq[cu[s]], s);
  Pairs violations;
  auto first = [&](Number st, auto&& conflicts) {
    for (Number s = st + 1; s < size; ++s) {
      if (run[s].thread == run[st].thread || !conflicts(run[s])) continue;
      if (max_seq[cu[st]] > s) violations.insert({st, s});
      return;
    }
  };
  for (Number st = 0; st < size; ++st) {
    for (Number v : run[st].right) first(st, [v](const S& s) { return s.left == v; });
    Number v = run[st].left;
    if (v != kNone) first(st, [v](const S& s) { return s.left == v || reads(s, v); });
  }
  return violations;
}

// Definition 4, by conflicts instead of equivalent traces: the pairs of statements whose units each
// have to come before the other, the later statement first.
Pairs cycles(const Statements& run, const Partition& cu) {
  std::vector<std::vector<bool>> before(run.size(), std::vector<bool>(run.size()));
  for (Number s = 0; s < run.size(); ++s) {
    auto after = [&](Number st) {
      if (st != kNone && cu[st] != cu[s]) before[cu[st]][cu[s]] = true;
    };
    for (Number v : run[s].right) after(writer_of(run, s, v));
    after(run[s].by);
    for (Number st = 0; st < s; ++st) {
      if (run[st].thread == run[s].thread) continue;
      Number v = run[s].left, w = run[st].left;
      bool conflict =
          (v != kNone && (v == w || reads(run[st], v))) || (w != kNone && reads(run[s], w));
      if (conflict) after(st);
    }
  }
  for (Number k = 0; k < run.size(); ++k)
    for (Number i = 0; i < run.size(); ++i)
      for (Number j = 0; j < run.size(); ++j)
        if (before[i][k] && before[k][j]) before[i][j] = true;
  Pairs both;
  for (Number s = 0; s < run.size(); ++s)
    for (Number st = 0; st < s; ++st)
      if (cu[s] != cu[st] && before[cu[s]][cu[st]] && before[cu[st]][cu[s]]) both.insert({s, st});
  return both;
}

// Variables 0 to 2 are for all threads, and two more for each one.
Statements random_run(std::mt19937_64& random) {
  auto below = [&random](Number end) { return Number(random() % static_cast<unsigned>(end)); };
  Number threads = 2 + below(2);
  Statements run(2 + below(16));
  for (std::size_t i = 0; i < run.size(); ++i) {
    S& s = run[i];
    s.thread = below(threads);
    auto variable = [&] { return below(2) == 0 ? below(3) : 3 + 2 * s.thread + below(2); };
    for (Number n = below(3); n > 0; --n) s.right.push_back(variable());
    if (below(3) != 0) s.left = variable();
    if (below(3) != 0) continue;
    std::vector<Number> earlier;
    for (std::size_t j = 0; j < i; ++j)
      if (run[j].thread == s.thread) earlier.push_back(j);
    if (!earlier.empty()) s.by = earlier[below(earlier.size())];
  }
  return run;
}

std::string text_of(const Statements& run) {
  std::string text = "svd-trace 1\nprocess engine=text\n";
  for (Number v = 0; v < 9; ++v) text += "var v" + std::to_string(v) + " 4\n";
  for (std::size_t i = 0; i < run.size(); ++i) {
    text += "stmt s" + std::to_string(i) + " \"s\"";
    if (run[i].by != kNone) text += " by s" + std::to_string(run[i].by);
    text += "\n";
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    text += "T" + std::to_string(run[i].thread + 1) + " s" + std::to_string(i);
    for (Number v : run[i].right) text += " r v" + std::to_string(v) + "=0";
    if (run[i].left != kNone) text += " w v" + std::to_string(run[i].left) + "=0";
    text += "\n";
  }
  return text;
}

struct Answer {
  Partition units;
  Pairs violations;
  Pairs cycles;
};

Answer pass(const Statements& run) {
  TempFile file;
  TraceReader trace = assembled(text_of(run), file);
  Rules rules;
  NoNames names;
  LockSets lock_sets;
  Scan scan(trace, rules, names, lock_sets);
  CycleDetector detector("svd-cycle", std::make_unique<PaperTwoPhase>("svd-2pl", scan.threads()));
  std::vector<UnitMember> members;
  detector.units().tell([&members](const UnitPart& part) { members.push_back(part.unit); });
  scan.add(detector);
  Chunk chunk;
  for (std::size_t i = 0; i < trace.chunks().size(); ++i) {
    SVD_CHECK(trace.decode(i, chunk));
    scan.chunk(i, chunk);
  }
  std::vector<Number> units;
  units.reserve(members.size());
  for (UnitMember member : members)
    units.push_back(Number(detector.units().units().of_member(member)));
  Answer answer{normal(units), {}, {}};
  // Moments count from 1, and there are no events.
  auto number = [](const RawAccess& access) { return Number(access.moment.value) - 1; };
  for (const RawFinding& finding : detector.units().findings())
    answer.violations.insert({number(finding.accesses[0]), number(finding.accesses[1])});
  detector.findings();
  UnitOrder order = detector.take_order();
  for (Number s = 0; s < members.size(); ++s)
    for (Number st = 0; st < s; ++st)
      if (answer.units[s] != answer.units[st] && order.together(members[s], members[st]))
        answer.cycles.insert({s, st});
  return answer;
}

TEST(PaperUnits, ArePassedAsFigures5And6Say) {
  std::uint64_t runs = random_runs(2'000);
  std::uint64_t merged = 0, violated = 0, otherwise = 0, cyclic = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    std::mt19937_64 random(seed);
    Statements run = random_run(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text_of(run));
    Partition units = figure5(run);
    Answer answer = pass(run);
    ASSERT_EQ(answer.units, units);
    Pairs violations = figure6(run, units);
    ASSERT_EQ(answer.violations, violations);
    Pairs both = cycles(run, units);
    ASSERT_EQ(answer.cycles, both);
    cyclic += both.empty() ? 0 : 1;
    for (std::size_t i = 0; i < units.size(); ++i) merged += units[i] != i;
    violated += violations.size();
    otherwise += definitions(run, Connected::kThroughAll) != units;
  }
  // The runs have something to find, and not everything.
  EXPECT_GT(merged, runs);
  EXPECT_GT(violated, runs / 10);
  EXPECT_GT(otherwise, runs / 1000);
  EXPECT_GT(cyclic, runs / 10);
  EXPECT_LT(cyclic, runs / 2);
  EXPECT_LT(otherwise, runs / 2);
}

// The smallest examples of differences, which docs/passes.md tells; the pass follows Figure 5. A
// second thread makes v shared.
constexpr Number kV = 0;
const S kOther{.thread = 1, .left = kV};

TEST(PaperUnits, DefinitionsConnectThroughWhatComesLater) {
  Statements run{{.left = kV}, {.right = {kV}, .by = 0}, {.by = 1}, kOther};
  EXPECT_EQ(figure5(run), (Partition{0, 1, 1, 3}));
  EXPECT_EQ(definitions(run, Connected::kThroughAll), (Partition{0, 1, 2, 3}));
  EXPECT_EQ(definitions(run, Connected::kThroughEarlier), (Partition{0, 1, 1, 3}));
  EXPECT_EQ(pass(run).units, figure5(run));
}

TEST(PaperUnits, Figure5AsksAllUnitsThatWroteTheVariable) {
  Statements run{{.left = kV}, {.left = kV}, {.right = {kV}, .by = 0}, kOther};
  EXPECT_EQ(figure5(run), (Partition{0, 1, 2, 3}));
  EXPECT_EQ(definitions(run, Connected::kThroughAll), (Partition{0, 1, 0, 3}));
  EXPECT_EQ(definitions(run, Connected::kThroughEarlier), (Partition{0, 1, 0, 3}));
  EXPECT_EQ(pass(run).units, figure5(run));
}

}  // namespace
}  // namespace svd::test
