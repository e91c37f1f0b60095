// SPDX-License-Identifier: Apache-2.0
//
// Slices against their definition on random runs: backward with every kind of criterion and switch,
// forward, chops; of statements with all that a slice says, of machine code with its instances.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "dpdg/instance_reader.h"
#include "plain_slice.h"
#include "slicer/backward.h"
#include "slicer/forward.h"
#include "slicer/reduction.h"
#include "support/random_run.h"
#include "support/random_runs.h"
#include "support/reference_graph.h"

namespace svd::test {
namespace {

std::size_t runs() { return random_runs(1500); }

std::string numbers(const std::set<Seq>& all) {
  std::string text;
  for (Seq seq : all) text += fmt::format("{} ", seq.value);
  return text;
}

std::set<Seq> members(const Slice& slice) {
  std::set<Seq> all;
  slice.members.each([&all](Seq seq) { all.insert(seq); });
  return all;
}

// A random run of machine code.
struct MachineRun {
  explicit MachineRun(std::mt19937_64& random, std::size_t most = 120)
      : builder(process(), random_chunks(random)),
        trace(made(random, most)),
        model(trace, diagnostics) {}

  static Process process() {
    Process process = TraceBuilder::text_process();
    process.has_values = false;
    return process;
  }
  TraceReader made(std::mt19937_64& random, std::size_t most) {
    random_machine_run(builder.writer(), random, 2 + random() % most);
    return builder.finish();
  }
  SliceInput input() const { return {trace, model.code, model.control}; }

  TraceBuilder builder;
  Diagnostics diagnostics;
  TraceReader trace;
  ProgramModel model;
};

// ---- Statements ----

// A random run with its graph.
struct RandomRun {
  RandomRun(std::mt19937_64& random, const SliceOptions& options, bool calls = false)
      : length(2 + random() % 60), builder(TraceBuilder::text_process(), random_chunks(random)) {
    random_statements(builder, random, length, calls);
    trace = std::make_unique<TraceReader>(builder.finish());
    model = std::make_unique<ProgramModel>(*trace, diagnostics);
    graph = graph_of(*trace, *model, options);
  }

  SliceInput input() const { return {*trace, model->code, model->control}; }
  // An instance as a criterion of a slice with these options.
  Criterion at(std::size_t vertex, const SliceOptions& options) const {
    Criterion criterion;
    criterion.seq = graph.vertices[vertex].instance.seq;
    criterion.thread = graph.vertices[vertex].instance.thread;
    criterion.addresses = options.addresses;
    return criterion;
  }
  std::string said(const Slice& slice) const { return describe(outcome_of(*trace, *model, slice)); }

  std::size_t length;
  TraceBuilder builder;
  Diagnostics diagnostics;
  std::unique_ptr<TraceReader> trace;
  std::unique_ptr<ProgramModel> model;
  Graph graph;
};

Scope random_scope(std::mt19937_64& random, std::size_t length) {
  Scope scope;
  if (random() % 4 == 0) scope.depth = static_cast<float>(random() % 5);
  if (random() % 6 == 0) scope.threads = {ThreadId(1), ThreadId(2)};
  if (random() % 6 == 0) scope.first = Seq(random() % length);
  if (random() % 6 == 0) scope.last = Seq(random() % length);
  if (random() % 6 == 0)
    for (std::size_t i = 0; i < 16; ++i) scope.code.push_back(random() % 4 != 0);
  return scope;
}

SliceOptions random_options(std::mt19937_64& random) {
  SliceOptions options;
  options.control = random() % 4 != 0;
  options.addresses = random() % 4 != 0;
  options.data = random() % 8 != 0;
  options.unordered = random() % 4 == 0;
  options.restored = random() % 4 == 0;
  return options;
}

TEST(Slice, IsTheDefinitionOnRandomTraces) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    RandomRun run(random, options);
    options.scope = random_scope(random, run.length);
    std::size_t criterion = random() % run.length;
    Distances expected = reached(run.graph, criterion, options.scope, false);
    Slice actual =
        slice_backward(run.input(), {run.at(criterion, options)}, options, run.diagnostics);
    ASSERT_EQ(run.said(actual),
              describe(outcome_of(*run.trace, run.graph, expected, {}, options, false)))
        << "seed " << seed;
  }
}

// With order edges and triples beside what goes through channels, which has none.
TEST(Slice, IsTheDefinitionOnRandomTracesWithSystemCalls) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    RandomRun run(random, options, true);
    options.scope = random_scope(random, run.length);
    std::size_t criterion = random() % run.length;
    Distances expected = reached(run.graph, criterion, options.scope, false);
    Slice actual =
        slice_backward(run.input(), {run.at(criterion, options)}, options, run.diagnostics);
    ASSERT_EQ(run.said(actual),
              describe(outcome_of(*run.trace, run.graph, expected, {}, options, false)))
        << "seed " << seed;
  }
}

// What is in memory before an instruction, by the last writers of its bytes.
TEST(Slice, OfMemoryIsTheDefinitionOnRandomTraces) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    options.data = true;
    RandomRun run(random, options);
    std::size_t criterion = random() % run.length;
    ThreadId thread = run.graph.vertices[criterion].instance.thread;
    // The variable is the first one of the run.
    Addr address(run.trace->symbols()[0].address + random() % 20);
    std::uint64_t size = 1 + random() % 4;
    std::map<Addr, std::size_t> writers;
    std::size_t next = 0;
    Diagnostics told;
    run.trace->scan(TraceReader::Order::kForward, {}, told, [&](const Chunk& chunk) {
      struct Walk {
        std::map<Addr, std::size_t>& writers;
        std::size_t end;
        std::size_t& next;
        void event(const Event&) {}
        void exec(const Exec& exec) {
          std::size_t me = next++;
          if (me >= end) return;
          exec.accesses([&](const MemoryAccess& access) {
            if (access.slot->write)
              for (std::uint64_t i = 0; i < access.size; ++i) writers[access.address + i] = me;
          });
        }
      } walk{writers, criterion, next};
      chunk.walk(walk);
      return true;
    });
    std::vector<Graph::Arc> begin;
    for (std::uint64_t i = 0; i < size; ++i)
      if (auto found = writers.find(address + i); found != writers.end()) {
        bool remote = run.graph.vertices[found->second].instance.thread != thread;
        begin.push_back({found->second, remote ? 0.0F : 1.0F, remote});
      }
    Outcome expected =
        outcome_of(*run.trace, run.graph, reached(run.graph, criterion, {}, false, begin),
                   criterion, options, false);
    for (const Graph::Arc& arc : begin)
      if (arc.remote)
        expected.remote_reads.emplace(run.graph.vertices[arc.to].label,
                                      run.graph.vertices[criterion].label);
    Criterion memory = run.at(criterion, options);
    memory.values = memory.addresses = memory.control = false;
    memory.memory.emplace_back(address, size);
    Slice actual = slice_backward(run.input(), {memory}, options, run.diagnostics);
    // Of the criterion's own triples the graph knows nothing.
    actual.triples.clear();
    expected.triples.clear();
    ASSERT_EQ(run.said(actual), describe(expected)) << "seed " << seed;
  }
}

TEST(ForwardSlice, IsTheDefinitionOnRandomTraces) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    RandomRun run(random, options);
    options.scope = random_scope(random, run.length);
    std::size_t criterion = random() % run.length;
    Distances expected = reached(run.graph, criterion, options.scope, true);
    Slice actual = slice_forward(run.input(), run.model->flow, {run.at(criterion, options)},
                                 options, run.diagnostics);
    ASSERT_EQ(run.said(actual),
              describe(outcome_of(*run.trace, run.graph, expected, {}, options, true)))
        << "seed " << seed;
  }
}

TEST(ForwardSlice, IsTheDefinitionOnRandomTracesWithSystemCalls) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    RandomRun run(random, options, true);
    options.scope = random_scope(random, run.length);
    std::size_t criterion = random() % run.length;
    Distances expected = reached(run.graph, criterion, options.scope, true);
    Slice actual = slice_forward(run.input(), run.model->flow, {run.at(criterion, options)},
                                 options, run.diagnostics);
    ASSERT_EQ(run.said(actual),
              describe(outcome_of(*run.trace, run.graph, expected, {}, options, true)))
        << "seed " << seed;
  }
}

TEST(Chop, IsWhatLiesBetweenOnRandomTraces) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    SliceOptions options = random_options(random);
    RandomRun run(random, options);
    std::size_t from = random() % run.length, to = random() % run.length;
    Distances after = reached(run.graph, from, {}, true);
    Distances expected = reached(run.graph, to, {}, false);
    std::erase_if(expected, [&](const auto& entry) {
      return entry.first != to && !after.contains(entry.first);
    });
    Slice actual = chop(run.input(), run.model->flow, {run.at(from, options)},
                        {run.at(to, options)}, options, run.diagnostics);
    ASSERT_EQ(run.said(actual),
              describe(outcome_of(*run.trace, run.graph, expected, {}, options, false)))
        << "seed " << seed;
  }
}

// ---- Reduction ----

// What is said of a slice, with the instances where they were in the whole run.
std::string said_of(const Slice& slice, const std::function<Seq(Seq)>& origin) {
  std::string text = fmt::format("{} instances\n", slice.instances);
  auto at = [&](const Instance& instance) {
    if (instance.thread.value == 0) return std::string("nothing");
    return fmt::format("{} {}:{}", instance.id.value, instance.thread.value,
                       origin(instance.seq).value);
  };
  for (const SliceItem& item : slice.items)
    text += fmt::format("{} x{} d{} for {} via {}, {} initial\n", at(item.nearest), item.instances,
                        item.distance, at(item.needed_by), static_cast<int>(item.via),
                        item.initial_reads);
  for (const RemoteRead& read : slice.remote_reads)
    text += fmt::format("remote {}, {} x{} d{}\n", at(read.write), at(read.read), read.instances,
                        read.distance);
  for (const Triple& triple : slice.triples)
    text +=
        fmt::format("triple {}, {}, {} x{} key {} own {}\n", at(triple.before), at(triple.remote),
                    at(triple.after), triple.instances, triple.key, triple.own_instructions);
  for (const RaceEdge& race : slice.races)
    text += fmt::format("race {}, {} x{} key {}\n", at(race.first), at(race.second), race.instances,
                        race.key);
  return text;
}

// Reduces a run to the slice of `criterion`; of the reduced trace the same is said.
ReductionCounts expect_same_when_reduced(const TraceReader& trace, Seq criterion) {
  SliceOptions options;
  options.which = true;
  Diagnostics diagnostics;
  Explainer explainer(trace, diagnostics);
  std::string text = fmt::format("seq:{}", criterion.value);
  auto whole = explainer.explain(text, options);
  TempFile file;
  auto write = [&](const Reduction& reduction) -> Result<TraceReader> {
    auto writer = into(file)(trace.process());
    EXPECT_TRUE(copy_trace(trace, **writer, no_progress, reduction.filter()));
    EXPECT_TRUE((*writer)->finish());
    return open_trace(file);
  };
  auto reduction = reduce(explainer, text, *whole, options, write, diagnostics);
  TraceReader reduced = open_trace(file);
  EXPECT_EQ(reduced.steps(), reduction->after().instructions);
  Explainer there(reduced, diagnostics);
  auto again = there.explain(fmt::format("seq:{}", reduction->place(criterion).value), options);
  std::set<Seq> found;
  again->slice.members.each([&](Seq place) { found.insert(reduction->origin(place)); });
  EXPECT_EQ(numbers(found), numbers(members(whole->slice)));
  EXPECT_EQ(said_of(again->slice, [&](Seq place) { return reduction->origin(place); }),
            said_of(whole->slice, [](Seq seq) { return seq; }));
  return reduction->after();
}

TEST(Reduction, TellsTheSameOnRandomTraces) {
  std::uint64_t all = 0, kept = 0;
  for (std::size_t seed = 0; seed < runs() / 3; ++seed) {
    std::mt19937_64 random(seed);
    RandomRun run(random, {}, seed % 2 != 0);
    kept += expect_same_when_reduced(*run.trace, Seq(random() % run.length)).instructions;
    all += run.length;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_LT(kept, all / 2);
}

// All of its code is one library's: what is near in the run has no distance.
TEST(Reduction, TellsTheSameOnRandomMachineCode) {
  std::uint64_t all = 0, kept = 0;
  for (std::size_t seed = 0; seed < runs() / 3; ++seed) {
    std::mt19937_64 random(seed);
    MachineRun run(random, 500);
    if (run.trace.steps() == 0) continue;
    Seq criterion(random() % run.trace.steps());
    kept += expect_same_when_reduced(run.trace, criterion).instructions;
    all += run.trace.steps();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_LT(kept, all);
}

// ---- Machine code ----

std::set<Seq> closure(const std::vector<PlainArc>& arcs, Seq criterion, bool forward) {
  std::multimap<Seq, Seq> next;
  for (const PlainArc& arc : arcs) {
    if (arc.kind == ArcKind::kWriteAfterWrite || arc.kind == ArcKind::kWriteAfterRead) continue;
    next.emplace(forward ? arc.def : arc.use, forward ? arc.use : arc.def);
  }
  std::set<Seq> found{criterion};
  std::vector<Seq> left{criterion};
  while (!left.empty()) {
    Seq seq = left.back();
    left.pop_back();
    for (auto [at, end] = next.equal_range(seq); at != end; ++at)
      if (found.insert(at->second).second) left.push_back(at->second);
  }
  return found;
}

TEST(Instances, StacksAskedForTogetherAreThoseAskedForAlone) {
  std::size_t calls = 0;
  for (std::size_t seed = 0; seed < runs() / 10; ++seed) {
    std::mt19937_64 random(seed);
    MachineRun run(random);
    InstanceReader together(run.trace, run.model.code, run.model.control);
    std::vector<std::pair<Seq, ThreadId>> moments;
    for (std::uint64_t seq = 0; seq < run.trace.steps(); ++seq)
      moments.emplace_back(seq, 1 + random() % 3);
    for (auto [seq, thread] : moments) together.ask_stack(seq, thread);
    together.answer(run.diagnostics);
    for (auto [seq, thread] : moments) {
      InstanceReader alone(run.trace, run.model.code, run.model.control);
      alone.ask_stack(seq, thread);
      alone.answer(run.diagnostics);
      ASSERT_EQ(together.stack(seq, thread), alone.stack(seq, thread))
          << "seed " << seed << ", at " << seq.value;
      calls += alone.stack(seq, thread).calls.size();
    }
  }
  EXPECT_GT(calls, runs());
}

// Only the last instruction of an execution can call or return.
TEST(Instances, StacksAreTheSameThroughoutAnExecution) {
  struct Walk {
    std::vector<Exec> execs;
    void exec(const Exec& exec) { execs.push_back(exec); }
    void event(const Event&) {}
  };
  std::size_t compared = 0;
  for (std::size_t seed = 0; seed < runs() / 10; ++seed) {
    std::mt19937_64 random(seed);
    MachineRun run(random);
    InstanceReader instances(run.trace, run.model.code, run.model.control);
    std::vector<std::vector<std::pair<Seq, ThreadId>>> executions;
    run.trace.scan(TraceReader::Order::kForward, {}, run.diagnostics, [&](const Chunk& chunk) {
      Walk walk;
      chunk.walk(walk);
      for (const Exec& exec : walk.execs) {
        auto& instructions = executions.emplace_back();
        for (Seq seq = exec.seq; seq < exec.end(); seq = seq + 1) {
          instructions.emplace_back(seq, exec.thread);
          instances.ask_stack(seq, exec.thread);
        }
      }
      return true;
    });
    instances.answer(run.diagnostics);
    for (const auto& instructions : executions) {
      auto [first, thread] = instructions.front();
      for (auto [seq, same] : instructions) {
        ASSERT_EQ(instances.stack(seq, same), instances.stack(first, thread))
            << "seed " << seed << ", at " << seq.value;
        for (Seq call : instances.stack(seq, same).calls) ASSERT_LT(call, first) << "seed " << seed;
        compared += instances.stack(seq, same).calls.size();
      }
    }
  }
  EXPECT_GT(compared, runs());
}

TEST(Slice, IsTheDefinitionOnRandomMachineCode) {
  for (std::size_t seed = 0; seed < runs(); ++seed) {
    std::mt19937_64 random(seed);
    MachineRun run(random);
    if (run.trace.steps() == 0) continue;
    auto arcs =
        reference_arcs(run.trace, run.model.flow, Seq(std::numeric_limits<std::uint64_t>::max()));
    Seq criterion(random() % run.trace.steps());
    InstanceReader instances(run.trace, run.model.code, run.model.control);
    instances.ask(criterion);
    instances.answer(run.diagnostics);
    // Nothing reads what a restore reads but a slice that begins at it.
    if (instances.facts(criterion).step->restores) continue;
    SliceOptions options;
    options.which = true;
    Slice back = slice_backward(run.input(), {{.seq = criterion}}, options, run.diagnostics);
    ASSERT_EQ(numbers(members(back)), numbers(closure(arcs, criterion, false))) << "seed " << seed;
    Slice forward =
        slice_forward(run.input(), run.model.flow, {{.seq = criterion}}, options, run.diagnostics);
    ASSERT_EQ(numbers(members(forward)), numbers(closure(arcs, criterion, true)))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace svd::test
