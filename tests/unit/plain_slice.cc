// SPDX-License-Identifier: Apache-2.0
#include "plain_slice.h"

#include <algorithm>
#include <queue>

#include "dpdg/sequencers.h"

namespace svd::test {
namespace {

struct Byte {
  std::optional<std::size_t> writer;
  std::optional<std::size_t> filler;   // who called the kernel that wrote it since
  std::optional<std::size_t> carried;  // who put it into the channel from which that came
  std::vector<std::size_t> readers;    // since that write
  std::vector<std::size_t> all_writers, all_readers;  // in this lifetime
  std::vector<std::size_t> accesses;
};

class GraphWalk {
 public:
  GraphWalk(const TraceReader& trace, const ProgramModel& model, const SliceOptions& options)
      : trace_(trace), model_(model), options_(options) {}

  // What the kernel does is done by the thread's last instruction.
  void event(const Event& event) {
    auto found = latest_.find(event.thread.value);
    if (!options_.data || found == latest_.end()) return;
    std::size_t me = found->second;
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      for (std::uint64_t i = 0; i < kernel->size; ++i) {
        Byte& byte = memory_[kernel->address.value + i];
        if (kernel->access == Access::kRead) {
          follow(byte, me, false);
        } else {
          byte.filler = me;
          byte.carried.reset();
        }
      }
    } else if (const auto* moved = std::get_if<Transfer>(&event.body)) {
      if (moved->channel == 0) return;
      for (std::uint64_t i = 0; i < moved->size; ++i) {
        auto& there = channels_[{moved->channel, moved->position + i}];
        if (moved->address.value == 0)
          there.reset();
        else if (moved->access == Access::kRead)
          there = me;
        else
          memory_[moved->address.value + i].carried = there;
      }
    }
  }
  void exec(const Exec& exec) {
    std::size_t me = graph.vertices.size();
    latest_[exec.thread.value] = me;
    StatementId id = exec.block().statements[0];
    const Statement& statement = trace_.statements()[id.value];
    InstrId instruction = model_.code.block(exec.shape->id).steps[0].id;
    graph.vertices.push_back({statement.label, {exec.seq, instruction, exec.thread}});
    if (options_.control) {
      std::optional<std::size_t> parent;
      for (StatementId by : statement.controlled_by) {
        auto found = last_.find({exec.thread.value, by.value});
        if (found != last_.end() && (!parent || found->second > *parent)) parent = found->second;
      }
      if (parent) add(me, *parent, 1, false);
    }
    last_[{exec.thread.value, id.value}] = me;
    if (!options_.data) return;
    each_byte(exec, false, [&](Byte& byte, Role role) { read(byte, me, role == Role::kAddress); });
    each_byte(exec, true, [&](Byte& byte, Role) { write(byte, me); });
    for (bool write : {false, true})
      each_byte(exec, write, [me](Byte& byte, Role) { byte.accesses.push_back(me); });
  }

  Graph graph;

 private:
  template <class F>
  void each_byte(const Exec& exec, bool write, F&& f) {
    exec.accesses([&](const MemoryAccess& access) {
      if (access.slot->write == write)
        for (std::uint64_t i = 0; i < access.size; ++i)
          f(memory_[access.address.value + i], access.slot->role);
    });
  }

  ThreadId thread(std::size_t vertex) const { return graph.vertices[vertex].instance.thread; }

  void add(std::size_t use, std::size_t def, float length, bool remote) {
    graph.vertices[use].arcs.push_back({def, length, remote});
    graph.vertices[def].back.push_back({use, length, remote});
  }

  void read(Byte& byte, std::size_t me, bool address) {
    if (address && !options_.addresses) return;
    byte.readers.push_back(me);
    byte.all_readers.push_back(me);
    follow(byte, me, address);
  }

  // Who wrote a byte that is read.
  void follow(Byte& byte, std::size_t me, bool address) {
    auto arc = [&](std::size_t to) {
      bool remote = thread(to) != thread(me);
      add(me, to, address ? 2 : remote ? 0 : 1, remote);
      return remote;
    };
    if (byte.carried) arc(*byte.carried);
    if (byte.filler) arc(*byte.filler);
    if (byte.filler || !byte.writer) return;
    bool remote = arc(*byte.writer);
    auto mine = std::find_if(byte.accesses.rbegin(), byte.accesses.rend(), [&](std::size_t access) {
      return access < *byte.writer && thread(access) == thread(me);
    });
    if (remote && mine != byte.accesses.rend())
      graph.vertices[me].changed.emplace(*mine, *byte.writer);
  }

  void write(Byte& byte, std::size_t me) {
    auto others = [&](const std::vector<std::size_t>& all, auto&& f) {
      for (std::size_t other : all)
        if (thread(other) != thread(me)) f(graph.vertices[other], other);
    };
    others(byte.readers, [me](auto& vertex, std::size_t) { vertex.write_after.insert(me); });
    others(byte.all_readers,
           [me](auto& vertex, std::size_t) { vertex.any_write_after.insert(me); });
    others(byte.all_writers, [&](auto&, std::size_t other) {
      graph.vertices[me].any_write_before.insert(other);
      if (byte.writer == other) graph.vertices[me].write_before.insert(other);
    });
    byte.writer = me;
    byte.filler.reset();
    byte.carried.reset();
    byte.readers.clear();
    byte.all_writers.push_back(me);
  }

  const TraceReader& trace_;
  const ProgramModel& model_;
  const SliceOptions& options_;
  std::map<std::uint64_t, Byte> memory_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::optional<std::size_t>> channels_;
  std::map<std::uint32_t, std::size_t> latest_;                          // by thread
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last_;  // by thread and statement
};

}  // namespace

Graph graph_of(const TraceReader& trace, const ProgramModel& model, const SliceOptions& options) {
  GraphWalk walk(trace, model, options);
  Diagnostics diagnostics;
  trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    chunk.walk(walk);
    return true;
  });
  return std::move(walk.graph);
}

Distances reached(const Graph& graph, std::size_t criterion, const Scope& scope, bool forward,
                  const std::optional<std::vector<Graph::Arc>>& begin) {
  Distances distances;
  using Entry = std::pair<float, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.emplace(0.0F, criterion);
  while (!queue.empty()) {
    auto [d, v] = queue.top();
    queue.pop();
    if (!distances.emplace(v, d).second) continue;
    const Graph::Vertex& vertex = graph.vertices[v];
    const auto& arcs = v == criterion && begin ? *begin : forward ? vertex.back : vertex.arcs;
    for (const Graph::Arc& arc : arcs)
      if (scope.admits(graph.vertices[arc.to].instance, d + arc.length))
        queue.emplace(d + arc.length, arc.to);
  }
  return distances;
}

Outcome outcome_of(const TraceReader& trace, const Graph& graph, const Distances& slice,
                   std::optional<std::size_t> only_begins, const SliceOptions& options,
                   bool forward) {
  Diagnostics diagnostics;
  Sequencers sequencers = Sequencers::of(trace, diagnostics);
  auto shown = [&](std::size_t a, std::size_t b) {
    const Instance& first = graph.vertices[a].instance;
    const Instance& second = graph.vertices[b].instance;
    return !options.unordered ||
           !sequencers.ordered(first.thread, first.seq, second.thread, second.seq);
  };
  Outcome outcome;
  for (auto [v, d] : slice) {
    const Graph::Vertex& vertex = graph.vertices[v];
    ++outcome.instances[vertex.label];
    auto [entry, fresh] = outcome.distances.emplace(vertex.label, d);
    if (!fresh) entry->second = std::min(entry->second, d);
    if (v == only_begins) continue;
    for (const Graph::Arc& arc : vertex.arcs)
      if (arc.remote && slice.contains(arc.to))
        outcome.remote_reads.emplace(graph.vertices[arc.to].label, vertex.label);
    if (forward) continue;
    for (auto [before, remote] : vertex.changed)
      if (slice.contains(remote))
        outcome.triples.insert(
            {graph.vertices[before].label, graph.vertices[remote].label, vertex.label});
    for (std::size_t w : options.restored ? vertex.any_write_before : vertex.write_before)
      if (shown(w, v)) outcome.write_after_write.emplace(graph.vertices[w].label, vertex.label);
    for (std::size_t w : options.restored ? vertex.any_write_after : vertex.write_after)
      if (shown(v, w)) outcome.write_after_read.emplace(vertex.label, graph.vertices[w].label);
  }
  return outcome;
}

Outcome outcome_of(const TraceReader& trace, const ProgramModel& model, const Slice& slice) {
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
  for (const Triple& triple : slice.triples)
    outcome.triples.insert(
        {label(triple.before.id), label(triple.remote.id), label(triple.after.id)});
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
  for (const auto& [before, remote, after] : outcome.triples)
    text += "triple " + before + " " + remote + " " + after + "\n";
  return text;
}

}  // namespace svd::test
