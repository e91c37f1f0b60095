// SPDX-License-Identifier: Apache-2.0
//
// The backward slice: the papers' figures by hand, and against the definition written out plainly
// on random traces.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "dpdg/program_model.h"
#include "slicer/backward.h"
#include "support/random_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

// What a slice says, by the labels of statements.
struct Outcome {
  std::map<std::string, std::uint64_t> instances;
  std::map<std::string, float> distances;
  Pairs remote_reads, write_after_write, write_after_read;
};

Outcome fast(const TraceReader& trace, const Criterion& criterion, const SliceOptions& options) {
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Slice slice =
      slice_backward({trace, model.code, model.control, {}}, {criterion}, options, diagnostics);
  auto label = [&](InstrId id) {
    return trace.statements()[model.code.step_of(id).statement.value].label;
  };
  Outcome outcome;
  for (const SliceItem& item : slice.items) {
    outcome.instances[label(item.id)] = item.instances;
    outcome.distances[label(item.id)] = item.distance;
  }
  for (const RemoteRead& read : slice.remote_reads)
    outcome.remote_reads.emplace(label(read.write.id), label(read.read.id));
  for (const RaceEdge& race : slice.races)
    (race.kind == RaceEdge::Kind::kWriteAfterWrite ? outcome.write_after_write
                                                   : outcome.write_after_read)
        .emplace(label(race.first.id), label(race.second.id));
  return outcome;
}

// The graph of a trace, straight from DESIGN §5: every instance with what it follows from.
struct Graph {
  struct Arc {
    std::size_t from;  // what it follows from
    float length;
    bool remote;
  };
  struct Vertex {
    std::string label;
    ThreadId thread{};
    std::vector<Arc> arcs;
    std::set<std::size_t> write_before;  // adjacent writes by another thread, of its writes
    std::set<std::size_t> write_after;   // and after its reads
  };
  std::vector<Vertex> vertices;
};

Graph graph_of(const TraceReader& trace, const SliceOptions& options) {
  struct Byte {
    std::optional<std::size_t> writer;
    std::vector<std::size_t> readers;  // since that write
  };
  Graph graph;
  std::map<std::uint64_t, Byte> memory;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last;  // by thread and statement
  Diagnostics diagnostics;
  struct Walk {
    const TraceReader& trace;
    const SliceOptions& options;
    Graph& graph;
    std::map<std::uint64_t, Byte>& memory;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& last;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      std::size_t me = graph.vertices.size();
      StatementId id = exec.block().statements[0];
      const Statement& statement = trace.statements()[id.value];
      Graph::Vertex vertex{statement.label, exec.thread, {}, {}, {}};
      if (options.control) {
        std::optional<std::size_t> parent;
        for (StatementId by : statement.controlled_by) {
          auto found = last.find({exec.thread.value, by.value});
          if (found != last.end() && (!parent || found->second > *parent)) parent = found->second;
        }
        if (parent) vertex.arcs.push_back({*parent, 1, false});
      }
      last[{exec.thread.value, id.value}] = me;
      graph.vertices.push_back(vertex);
      auto each_byte = [&](bool write, auto&& f) {
        exec.accesses([&](const MemoryAccess& access) {
          if (access.slot->write == write)
            for (std::uint64_t i = 0; i < access.size; ++i)
              f(memory[access.address.value + i], access.slot->role);
        });
      };
      each_byte(false, [&](Byte& byte, Role role) {
        bool address = role == Role::kAddress;
        if (!options.data || (address && !options.addresses)) return;
        byte.readers.push_back(me);
        if (!byte.writer) return;
        bool remote = graph.vertices[*byte.writer].thread != exec.thread;
        float length = address ? 2 : remote ? 0 : 1;
        graph.vertices[me].arcs.push_back({*byte.writer, length, remote});
      });
      each_byte(true, [&](Byte& byte, Role) {
        for (std::size_t reader : byte.readers)
          if (graph.vertices[reader].thread != exec.thread)
            graph.vertices[reader].write_after.insert(me);
        if (byte.writer && graph.vertices[*byte.writer].thread != exec.thread)
          graph.vertices[me].write_before.insert(*byte.writer);
        byte.writer = me;
        byte.readers.clear();
      });
    }
  } walk{trace, options, graph, memory, last};
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(walk);
    return true;
  });
  return graph;
}

Outcome plain(const TraceReader& trace, std::size_t criterion, const SliceOptions& options) {
  Graph graph = graph_of(trace, options);
  std::map<std::size_t, float> distance;
  using Entry = std::pair<float, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.emplace(0.0F, criterion);
  Outcome outcome;
  while (!queue.empty()) {
    auto [d, v] = queue.top();
    queue.pop();
    if (!distance.emplace(v, d).second) continue;
    for (const Graph::Arc& arc : graph.vertices[v].arcs) queue.emplace(d + arc.length, arc.from);
  }
  for (auto [v, d] : distance) {
    const Graph::Vertex& vertex = graph.vertices[v];
    ++outcome.instances[vertex.label];
    auto [entry, fresh] = outcome.distances.emplace(vertex.label, d);
    if (!fresh) entry->second = std::min(entry->second, d);
    for (const Graph::Arc& arc : vertex.arcs)
      if (arc.remote) outcome.remote_reads.emplace(graph.vertices[arc.from].label, vertex.label);
    if (!options.data) continue;
    if (v != criterion)
      for (std::size_t w : vertex.write_before)
        outcome.write_after_write.emplace(graph.vertices[w].label, vertex.label);
    for (std::size_t w : vertex.write_after)
      outcome.write_after_read.emplace(vertex.label, graph.vertices[w].label);
  }
  return outcome;
}

std::string describe(const Outcome& outcome) {
  std::string text;
  for (const auto& [label, count] : outcome.instances)
    text += label + " x" + std::to_string(count) + " d" +
            std::to_string(outcome.distances.at(label)) + "\n";
  auto pairs = [&text](const char* name, const Pairs& all) {
    for (const auto& [a, b] : all) text += std::string(name) + " " + a + " " + b + "\n";
  };
  pairs("remote", outcome.remote_reads);
  pairs("waw", outcome.write_after_write);
  pairs("war", outcome.write_after_read);
  return text;
}

std::set<std::string> labels(const Outcome& outcome) {
  std::set<std::string> all;
  for (const auto& [label, count] : outcome.instances) all.insert(label);
  return all;
}

// Slicing paper, Fig. 1 (a): U1 reads what D2 of the other thread wrote over D1.
TEST(Slice, Figure1WriteAfterWrite) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)});
  t.thread(2).exec("D2", {w(x)});
  t.thread(1).exec("U1", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(2), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"D2", "U1"}));
  EXPECT_EQ(outcome.write_after_write, (Pairs{{"D1", "D2"}}));
  EXPECT_EQ(outcome.remote_reads, (Pairs{{"D2", "U1"}}));
}

// Fig. 1 (b): U1 reads before D2 writes.
TEST(Slice, Figure1WriteAfterRead) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D1", {w(x)}).exec("U1", {r(x)});
  t.thread(2).exec("D2", {w(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(1), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"D1", "U1"}));
  EXPECT_EQ(outcome.write_after_read, (Pairs{{"U1", "D2"}}));
}

// Fig. 8, right: of three writes by three threads only neighbours have an edge; D4 comes in because
// D5, which its neighbour D6 has an edge to, is not what U reads.
TEST(Slice, Figure8OnlyAdjacentWrites) {
  TraceBuilder t;
  Var x = t.var("x");
  t.thread(1).exec("D4", {w(x)});
  t.thread(2).exec("D5", {w(x)});
  t.thread(3).exec("D6", {w(x)});
  t.thread(1).exec("U", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(3), .thread = ThreadId(1)}, {});
  EXPECT_EQ(outcome.write_after_write, (Pairs{{"D5", "D6"}}));
}

TEST(Slice, BytesAreToldApart) {
  TraceBuilder t;
  Var all = t.var("all", 8);
  Var low{all.address, 4};
  Var high{all.address + 4, 4};
  t.thread(1).exec("low", {w(low)}).exec("high", {w(high)}).exec("use", {r(low)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(2), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"low", "use"}));
}

TEST(Slice, WhatWasFreedDoesNotReachWhatIsAllocatedThere) {
  TraceBuilder t;
  Var x = t.var("x", 8);
  t.thread(1).event(Allocation{.address = x.address, .size = 8});
  t.exec("old", {w(x)}).event(Release{.address = x.address});
  t.event(Allocation{.address = x.address, .size = 8});
  t.exec("use", {r(x)});
  Outcome outcome = fast(t.finish(), {.seq = Seq(1), .thread = ThreadId(1)}, {});
  EXPECT_EQ(labels(outcome), (std::set<std::string>{"use"}));
}

// write(fd, buffer, size) follows from its three arguments and the bytes, not from r10.
TEST(Slice, ASystemCallFollowsFromItsArguments) {
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  TraceBuilder t(process);
  Block block;
  std::uint64_t pc = 0x401000;
  auto add = [&](std::initializer_list<std::uint8_t> code) {
    block.instructions.push_back({Pc(pc), static_cast<std::uint8_t>(code.size())});
    block.code.insert(block.code.end(), code);
    pc += code.size();
  };
  add({0xc6, 0x06, 1});  // mov byte [rsi],1
  block.slots.push_back({.instruction = 0, .size = 1, .write = true});
  add({0x48, 0xc7, 0xc2, 1, 0, 0, 0});  // mov rdx,1
  add({0x49, 0xc7, 0xc2, 1, 0, 0, 0});  // mov r10,1
  add({0x48, 0xc7, 0xc7, 1, 0, 0, 0});  // mov rdi,1
  add({0x48, 0xc7, 0xc0, 1, 0, 0, 0});  // mov rax,1
  add({0x0f, 0x05});                    // syscall
  std::uint64_t buffer = 0x10000;
  t.writer().run(ThreadId(1));
  t.writer().exec(t.writer().add(block), &buffer, nullptr);
  t.event(SyscallEnter{.number = 1});
  t.event(KernelAccess{.access = Access::kRead, .address = Addr(buffer), .size = 1});
  TraceReader trace = t.finish();
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  Slice slice = slice_backward({trace, model.code, model.control, {}},
                               {{.seq = Seq(5), .thread = ThreadId(1)}}, {}, diagnostics);
  std::set<std::uint64_t> found;
  for (const SliceItem& item : slice.items) found.insert(item.nearest.seq.value);
  EXPECT_EQ(found, (std::set<std::uint64_t>{0, 1, 3, 4, 5}));
}

// SVD_PROPERTY_RUNS=100000 for the long campaign.
TEST(Slice, IsTheDefinitionOnRandomTraces) {
  const char* runs = std::getenv("SVD_PROPERTY_RUNS");
  std::size_t count = runs == nullptr ? 1500 : std::strtoull(runs, nullptr, 10);
  for (std::size_t seed = 0; seed < count; ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder t;
    std::size_t length = 2 + random() % 60;
    random_statements(t, random, length);
    SliceOptions options;
    options.control = random() % 4 != 0;
    options.addresses = random() % 4 != 0;
    options.data = random() % 8 != 0;
    std::size_t criterion = random() % length;
    TraceReader trace = t.finish();
    Graph graph = graph_of(trace, options);
    Outcome expected = plain(trace, criterion, options);
    Outcome actual = fast(trace,
                          {.seq = Seq(criterion),
                           .thread = graph.vertices[criterion].thread,
                           .values = options.data,
                           .addresses = options.data && options.addresses},
                          options);
    ASSERT_EQ(describe(actual), describe(expected)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace svd::test
