// SPDX-License-Identifier: Apache-2.0
//
// Questions about a run against the plain answers, on random runs of statements and machine code in
// many small chunks.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "slicer/queries/causes.h"
#include "slicer/queries/executions.h"
#include "slicer/queries/memory_value.h"
#include "support/asked_run.h"
#include "support/random_run.h"
#include "support/random_runs.h"
#include "support/reference_graph.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

std::size_t runs() { return random_runs(200); }

// Machine runs are made without values.
Process process(bool machine) {
  Process process = TraceBuilder::text_process();
  process.has_values = !machine;
  return process;
}

TraceReader random_trace(TraceBuilder& builder, std::uint64_t seed, bool machine) {
  std::mt19937_64 random(seed);
  std::size_t length = 2 + random() % 60;
  if (machine)
    random_machine_run(builder.writer(), random, length);
  else
    random_statements(builder, random, length);
  return builder.finish();
}

// Every access and event that concerns memory, as a list.
struct Plain {
  struct One {
    Seq seq{};
    ThreadId thread{};
    MemoryEvent::Kind kind{};
    bool kernel = false;
    Range bytes{};
    std::vector<std::optional<std::uint8_t>> data{};
    std::uint64_t order = 0;  // 2 seq for events before it, 2 seq + 1 for the instruction
  };
  std::vector<One> all;
  std::vector<std::pair<Seq, ThreadId>> instructions;
  std::vector<InstrId> ids;

  explicit Plain(const AskedRun& asked) {
    Diagnostics diagnostics;
    struct Walk {
      Plain& plain;
      const CodeTable& code;
      const ControlIndex& control;
      void exec(const Exec& exec) {
        for (std::uint32_t i = 0; i < exec.shape->part.steps(); ++i) {
          plain.instructions.emplace_back(exec.seq + i, exec.thread);
          plain.ids.push_back(code.block(exec.shape->id).steps[exec.shape->part.first + i].id);
        }
        exec.accesses([&](const MemoryAccess& a) {
          if (a.size == 0 || (a.slot->write && control.faulted(a.seq))) return;
          One one{a.seq,
                  exec.thread,
                  a.slot->write ? MemoryEvent::Kind::kWrite : MemoryEvent::Kind::kRead,
                  false,
                  {a.address, a.size},
                  {},
                  2 * a.seq.value + 1};
          for (std::uint64_t i = 0; i < a.size; ++i)
            one.data.emplace_back(a.has_value ? std::optional<std::uint8_t>(a.value >> 8 * i)
                                              : std::nullopt);
          plain.all.push_back(one);
        });
      }
      void event(const Event& event) {
        One one{.seq = event.seq, .thread = event.thread, .order = 2 * event.seq.value};
        if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
          one.kind = kernel->access == Access::kWrite ? MemoryEvent::Kind::kWrite
                                                      : MemoryEvent::Kind::kRead;
          one.kernel = true;
          one.bytes = {kernel->address, kernel->size};
          one.data.assign(kernel->data.begin(), kernel->data.end());
        } else if (auto fresh = fresh_memory(event)) {
          const auto* made = std::get_if<Allocation>(&event.body);
          if (made != nullptr && made->function == AllocFn::kRealloc) return;
          one.kind = MemoryEvent::Kind::kFresh;
          one.bytes = *fresh;
        } else {
          return;
        }
        one.data.resize(one.bytes.size);
        if (one.bytes.size != 0) plain.all.push_back(one);
      }
    } walk{*this, asked.model.code, asked.model.control};
    asked.trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
      chunk.walk(walk);
      return true;
    });
  }
};

Range random_place(const Plain& plain, std::mt19937_64& random) {
  if (plain.all.empty()) return {Addr(0x10000), 8};
  Range some = plain.all[random() % plain.all.size()].bytes;
  return {some.address + random() % std::min<std::uint64_t>(some.size, 64), 1 + random() % 12};
}

std::string text(const MemoryEvent& event) {
  return std::to_string(static_cast<int>(event.kind)) + (event.kernel ? "k " : " ") +
         std::to_string(event.seq.value) + " T" + std::to_string(event.thread.value) + " " +
         std::to_string(event.bytes.address.value) + "," + std::to_string(event.bytes.size) + "\n";
}

std::string text(const Plain::One& one) {
  return text(MemoryEvent{.kind = one.kind,
                          .kernel = one.kernel,
                          .seq = one.seq,
                          .thread = one.thread,
                          .bytes = one.bytes});
}

class Queries : public testing::TestWithParam<bool> {};

TEST_P(Queries, LookBackAndAhead) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    Plain plain(asked);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 10; ++i) {
      Range place = random_place(plain, random);
      Seq at(random() % (asked.run.end().value + 1));
      std::string expected, found;
      for (auto one = plain.all.rbegin(); one != plain.all.rend(); ++one)
        if (overlap(one->bytes, place) && one->order <= 2 * at.value) expected += text(*one);
      look_back(asked.run, place, at, Interest::kAll, [&found](const MemoryEvent& event) {
        found += text(event);
        return true;
      });
      ASSERT_EQ(found, expected) << "back, seed " << seed;
      expected.clear(), found.clear();
      for (const Plain::One& one : plain.all)
        if (overlap(one.bytes, place) && one.order > 2 * at.value + 1 &&
            one.kind != MemoryEvent::Kind::kRead)
          expected += text(one);
      look_ahead(asked.run, place, at, Interest::kChanges, [&found](const MemoryEvent& event) {
        found += text(event);
        return true;
      });
      ASSERT_EQ(found, expected) << "ahead, seed " << seed;
    }
  }
}

// The values of a byte that are told before and after a moment, up to the change that hides them.
std::optional<std::uint8_t> plain_value(const Plain& plain, Addr byte, Seq at) {
  std::optional<std::uint8_t> value;
  for (const Plain::One& one : plain.all) {
    if (byte.value - one.bytes.address.value >= one.bytes.size) continue;
    auto told = one.data[byte.value - one.bytes.address.value];
    bool change = one.kind != MemoryEvent::Kind::kRead;
    if (one.order <= 2 * at.value) {
      if (told || change) value = told;
    } else {
      if (value || change) return value;
      value = told;
    }
  }
  return value;
}

TEST_P(Queries, MemoryValue) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    Plain plain(asked);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 10; ++i) {
      Range place = random_place(plain, random);
      Seq at(random() % (asked.run.end().value + 1));
      auto found = memory_value(asked.run, place, at);
      for (std::uint64_t b = 0; b < place.size; ++b)
        ASSERT_EQ(found[b], plain_value(plain, place.address + b, at))
            << "seed " << seed << " byte " << b << " at " << at.value;
    }
  }
}

// As arcs of the graph.
std::vector<PlainArc> arcs_of(AskedRun& asked, Seq seq) {
  std::vector<PlainArc> arcs;
  auto found = asked.run.find(seq);
  if (!found) return arcs;
  Causes causes = causes_of(asked.run, *found);
  for (const RegisterCause& cause : causes.registers)
    if (cause.writer) arcs.push_back({ArcKind::kRegister, seq, *cause.writer, {}});
  auto bytes = [&](ArcKind kind, Seq def, Range range) {
    for (std::uint64_t i = 0; i < range.size; ++i)
      arcs.push_back({kind, seq, def, range.address + i});
  };
  for (const MemoryCause& cause : causes.memory)
    if (cause.writer)
      bytes(
          cause.write->thread == found->facts.instance.thread ? ArcKind::kMemory : ArcKind::kRemote,
          *cause.writer, cause.bytes);
  if (causes.decision) arcs.push_back({ArcKind::kControl, seq, *causes.decision, {}});
  for (const RaceCause& cause : causes.races)
    if (cause.kind == RaceCause::Kind::kWriteBefore && cause.other < seq)
      bytes(ArcKind::kWriteAfterWrite, cause.other, cause.bytes);
  return arcs;
}

// Of every instruction the arcs that leave it; of those between threads that say in which order
// two accesses came, only what it wrote over. Channels are not asked about.
TEST_P(Queries, CausesAreTheArcsOfTheGraph) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    std::vector<PlainArc> expected = fast_arcs(asked.trace, asked.model, asked.run.end() + 1);
    std::erase_if(expected, [](const PlainArc& a) {
      return a.kind == ArcKind::kWriteAfterRead || a.kind == ArcKind::kChannel;
    });
    std::vector<PlainArc> found;
    for (Seq seq; seq < asked.run.end(); seq += 1) {
      auto arcs = arcs_of(asked, seq);
      found.insert(found.end(), arcs.begin(), arcs.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    ASSERT_EQ(difference(found, expected), "") << "seed " << seed;
  }
}

// What is told to have been written after a read is the next write there, if another thread's.
TEST_P(Queries, WritesAfterReads) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    Plain plain(asked);
    for (Seq seq; seq < asked.run.end(); seq += 1) {
      auto me = asked.run.find(seq);
      ASSERT_TRUE(me);
      if (!me->facts.step->statement.value && me->facts.step->flow != Flow::kNext) continue;
      if (me->facts.step->restores) continue;
      std::set<std::pair<std::uint64_t, std::uint64_t>> expected, found;
      for (const MemoryAccess& access : me->facts.accesses) {
        if (access.slot->write) continue;
        for (std::uint64_t i = 0; i < access.size; ++i) {
          Addr byte = access.address + i;
          auto next = std::find_if(plain.all.begin(), plain.all.end(), [&](const Plain::One& one) {
            return one.order > 2 * seq.value + 1 && one.kind != MemoryEvent::Kind::kRead &&
                   byte.value - one.bytes.address.value < one.bytes.size;
          });
          if (next == plain.all.end() || next->kind == MemoryEvent::Kind::kFresh) continue;
          if (next->thread == me->facts.instance.thread || next->kernel) continue;
          expected.emplace(next->seq.value, byte.value);
        }
      }
      for (const RaceCause& cause : causes_of(asked.run, *me).races) {
        if (cause.kind != RaceCause::Kind::kWriteAfter || cause.write.kernel) continue;
        for (std::uint64_t i = 0; i < cause.bytes.size; ++i)
          found.emplace(cause.other.value, cause.bytes.address.value + i);
      }
      ASSERT_EQ(found, expected) << "seed " << seed << " seq " << seq.value;
    }
  }
}

TEST_P(Queries, Executions) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    Plain plain(asked);
    std::mt19937_64 random(seed);
    std::vector<bool> wanted(asked.model.code.instr_count());
    wanted[random() % wanted.size()] = true;
    wanted[random() % wanted.size()] = true;
    std::vector<Seq> all;
    for (std::size_t i = 0; i < plain.ids.size(); ++i)
      if (wanted[plain.ids[i].value]) all.push_back(plain.instructions[i].first);
    Executions executions(asked.run, wanted);
    ASSERT_EQ(executions.count(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto n = static_cast<std::int64_t>(i);
      EXPECT_EQ(executions.nth(n + 1), all[i]);
      EXPECT_EQ(executions.nth(n - static_cast<std::int64_t>(all.size())), all[i]);
    }
    EXPECT_EQ(executions.nth(0), std::nullopt);
    EXPECT_EQ(executions.nth(static_cast<std::int64_t>(all.size()) + 1), std::nullopt);
    for (Seq at; at < asked.run.end(); at += 1) {
      auto lower = std::lower_bound(all.begin(), all.end(), at);
      auto upper = std::upper_bound(all.begin(), all.end(), at);
      EXPECT_EQ(executions.before(at),
                lower == all.begin() ? std::nullopt : std::optional(*(lower - 1)));
      EXPECT_EQ(executions.after(at), upper == all.end() ? std::nullopt : std::optional(*upper));
      EXPECT_EQ(executions.number(at), static_cast<std::uint64_t>(upper - all.begin()));
    }
  }
}

TEST_P(Queries, TheLastInstructionOfAThread) {
  for (std::uint64_t seed = 0; seed < runs(); ++seed) {
    TraceBuilder builder(process(GetParam()), {7});
    AskedRun asked(random_trace(builder, seed, GetParam()));
    Plain plain(asked);
    std::map<ThreadId, Seq> last;
    for (auto [seq, thread] : plain.instructions) {
      for (std::uint32_t id = 1; id <= 4; ++id) {
        auto known = last.find(ThreadId(id));
        EXPECT_EQ(asked.run.last_before(ThreadId(id), seq),
                  known == last.end() ? std::nullopt : std::optional(known->second));
      }
      EXPECT_EQ(asked.run.find(seq)->facts.instance.thread, thread);
      last[thread] = seq;
    }
    EXPECT_FALSE(asked.run.find(asked.run.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Queries, testing::Bool(),
                         [](const auto& test) { return test.param ? "Machine" : "Statements"; });

}  // namespace
}  // namespace svd::test
