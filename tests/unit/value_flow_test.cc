// SPDX-License-Identifier: Apache-2.0
//
// What values follow from: step by step, with sets written out and a byte at a time, on random
// machine code. Plans, outlines of blocks that follow from nothing and sets that share their words
// are there to be fast, and must make no difference.

#include "cu/value_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "dpdg/program_model.h"
#include "support/random_run.h"
#include "support/random_runs.h"

namespace svd::test {
namespace {

using Members = std::set<UnitMember>;

constexpr std::size_t kThreads = 8;
constexpr std::size_t kMostUnits = 32;  // of a value; more become one

// Memory that two threads access, as it has to be, and some more.
class SharedBlocks {
 public:
  void exec(const Exec& exec) {
    exec.accesses([&](const MemoryAccess& memory) {
      each(memory.address, memory.size, [&](std::uint64_t block) {
        auto [first, is_new] = first_.try_emplace(block, exec.thread);
        if (first->second != exec.thread) shared_.insert(block);
      });
    });
  }
  void event(const Event&) {}
  bool any(Addr address, std::uint64_t size) const {
    bool found = false;
    each(address, size, [&](std::uint64_t block) {
      found = found || block % 3 == 0 || shared_.count(block) != 0;
    });
    return found;
  }

 private:
  template <class F>
  static void each(Addr address, std::uint64_t size, F&& f) {
    for (std::uint64_t block = address.value / 16; block <= (address.value + size - 1) / 16;
         ++block)
      f(block);
  }
  std::map<std::uint64_t, ThreadId> first_;
  std::set<std::uint64_t> shared_;
};

// What shared memory is told, and what had decided that the thread was there: what follows from
// units that have ended is nothing.
struct Said {
  char what = 0;
  Seq seq{};
  Members set, address;
  std::vector<Members> conditions;
  friend bool operator==(const Said&, const Said&) = default;
};

std::ostream& operator<<(std::ostream& out, const Said& said) {
  return out << said.what << " at " << said.seq.value << " of " << testing::PrintToString(said.set)
             << " through " << testing::PrintToString(said.address) << " under "
             << testing::PrintToString(said.conditions);
}

// Begins a unit for each read and makes those of a value one where it is written, for both sides in
// the same way.
class Heard {
 public:
  UnitMember read(std::size_t thread, Said said) {
    said_.push_back(std::move(said));
    return units.begin(thread);
  }
  void write(Said said) {
    for (UnitMember unit : said.set) units.merge(*said.set.begin(), unit);
    said_.push_back(std::move(said));
  }
  void tell(Said said) { said_.push_back(std::move(said)); }
  // Who stands for them, of those that are active.
  Members now(const Members& set, std::size_t thread) {
    Members all;
    for (UnitMember member : set)
      if (units.active(member, thread)) all.insert(units.of_member(member));
    return all;
  }
  const std::vector<Said>& said() const { return said_; }

  Units units{kThreads};

 private:
  std::vector<Said> said_;
};

class Fast : private SharedMemory {
 public:
  Fast(const ProgramModel& model, const TraceReader& trace, const SharedBlocks& blocks)
      : blocks_(blocks), flow_(model.code, tracker(model, trace), kThreads, false, heard_.units) {}
  static ControlTracker tracker(const ProgramModel& model, const TraceReader& trace) {
    ControlTracker tracker(model.code, model.flow);
    tracker.set_statements(trace.statements());
    return tracker;
  }

  void exec(const Exec& exec, std::size_t thread) {
    thread_ = thread;
    bool any = false;
    exec.accesses(
        [&](const MemoryAccess& memory) { any = any || blocks_.any(memory.address, memory.size); });
    flow_.exec(exec, thread, any, *this);
  }
  void event(const Event& event, std::size_t thread) {
    flow_.event(event, thread);
    if (std::holds_alternative<SyscallEnter>(event.body)) heard_.units.end_all(thread);
  }
  const std::vector<Said>& said() const { return heard_.said(); }

 private:
  bool shared(Seq seq, bool, Addr address, std::uint64_t size) override {
    seq_ = seq;
    return blocks_.any(address, size);
  }
  void address(Seq seq, TagSet set) override {
    if (!members(set).empty()) heard_.tell({'a', seq, {}, members(set), conditions()});
  }
  UnitMember read(TagSet address) override {
    return heard_.read(thread_, {'r', seq_, {}, members(address), conditions()});
  }
  void write(TagSet value, TagSet address) override {
    heard_.write({'w', seq_, members(value), members(address), conditions()});
  }
  void branch(Seq seq, TagSet condition) override {
    if (!members(condition).empty()) heard_.tell({'b', seq, members(condition), {}, conditions()});
  }

  Members members(TagSet set) {
    Members all;
    flow_.sets().each(set, [&](UnitMember member) { all.insert(member); });
    return heard_.now(all, thread_);
  }
  std::vector<Members> conditions() {
    std::vector<Members> all;
    flow_.control(thread_).each([&](TagSet condition) {
      if (Members some = members(condition); !some.empty()) all.push_back(some);
      return true;
    });
    return all;
  }

  const SharedBlocks& blocks_;
  Heard heard_;
  ValueFlow flow_;
  std::size_t thread_ = 0;
  Seq seq_{};
};

class Plain {
 public:
  Plain(const ProgramModel& model, const TraceReader& trace, const SharedBlocks& blocks)
      : blocks_(blocks), code_(model.code), tracker_(Fast::tracker(model, trace)) {}

  void exec(const Exec& exec, std::size_t thread) {
    thread_ = thread;
    std::map<std::uint16_t, Seq> parents;
    tracker_.exec(exec, [&](std::uint16_t first, Seq parent) { parents[first] = parent; });
    const Part& part = exec.shape->part;
    std::size_t range = 0;
    for (std::uint16_t i = part.first; i < part.end; ++i) {
      if (parents.count(i) != 0) threads_[thread].control.at(parents[i]);
      step(exec, i, range);
    }
  }
  void event(const Event& event, std::size_t thread) {
    tracker_.event(event);
    if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      if (kernel->access == Access::kWrite) keep(kernel->address, kernel->size, {});
    } else if (std::holds_alternative<SyscallExit>(event.body)) {
      for (Cell cell : code_.cells_of(Reg::kRax)) threads_[thread].cells[cell].clear();
    }
    if (std::holds_alternative<SyscallEnter>(event.body)) heard_.units.end_all(thread);
  }
  const std::vector<Said>& said() const { return heard_.said(); }

 private:
  struct Thread {
    std::map<Cell, Members> cells;
    Members carried_value, carried_address;  // of an instruction that was left halfway
    ControlStack control;
  };
  struct Operands {
    Members value, address, condition;
  };

  void step(const Exec& exec, std::uint16_t index, std::size_t& range) {
    const Step& step = code_.block(exec.shape->id).steps[index];
    const Part& part = exec.shape->part;
    Thread& state = threads_[thread_];
    Seq seq = exec.seq + static_cast<std::uint64_t>(index - part.first);
    Operands operands;
    for (CellUse use : code_.uses(step)) {
      bool condition = use.role == UseRole::kCondition && step.branch;
      add(use.role == UseRole::kAddress ? operands.address
          : condition                   ? operands.condition
                                        : operands.value,
          state.cells[use.cell]);
    }
    Members registers = operands.value;
    if (part.first_slot > step.first_slot && part.first_slot < step.end_slot) {
      add(operands.value, state.carried_value);
      add(operands.address, state.carried_address);
    }
    bool ranges = false;
    std::size_t end = std::min(step.end_slot, part.end_slot);
    for (std::size_t s = std::max(step.first_slot, part.first_slot); s < end; ++s) {
      if (exec.addresses == nullptr) break;
      const Slot& slot = exec.block().slots[s];
      std::uint64_t size = slot.is_range() ? exec.lengths[range++] : slot.size;
      Addr address(exec.addresses[s - part.first_slot]);
      if (address == kAbsent || size == 0) continue;
      ranges = ranges || slot.is_range();
      access(seq, step, slot, address, size, operands);
    }
    if (end < step.end_slot) {
      state.carried_value = operands.value;
      state.carried_address = operands.address;
    }
    for (CellDef def : code_.defs(step)) {
      bool nothing = def.stack || code_.reg_of(def.cell) == Reg::kMxcsr;
      state.cells[def.cell] = nothing ? Members() : ranges ? registers : operands.value;
    }
    if (step.flow == Flow::kIndirectJump || step.flow == Flow::kIndirectCall)
      operands.condition = operands.value;
    if (!now(operands.condition).empty())
      heard_.tell({'b', seq, now(operands.condition), {}, conditions()});
    if (!step.branch && operands.condition.empty()) return;
    TagSet word;
    if (!operands.condition.empty()) {
      conditions_.push_back(operands.condition);
      word.word = static_cast<std::uint32_t>(conditions_.size());
    }
    state.control.decide(seq, step.pc, step.branch ? step.post_dominator : step.pc, word);
  }

  void access(Seq seq, const Step& step, const Slot& slot, Addr address, std::uint64_t size,
              Operands& operands) {
    bool is_shared = blocks_.any(address, size);
    if (slot.write) {
      if (is_shared)
        heard_.write({'w', seq, now(operands.value), now(operands.address), conditions()});
      return keep(address, size, is_shared ? Members() : operands.value);
    }
    if (step.flow == Flow::kReturn) return;
    if (!now(operands.address).empty())
      heard_.tell({'a', seq, {}, now(operands.address), conditions()});
    Members loaded = operands.address;
    if (is_shared) {
      Said said{'r', seq, {}, now(operands.address), conditions()};
      add(loaded, {heard_.read(thread_, std::move(said))});
    }
    for (std::uint64_t i = 0; i < size; ++i)
      if (auto byte = memory_.find(address.value + i); byte != memory_.end())
        add(loaded, byte->second);
    add(slot.role == Role::kAddress     ? operands.address
        : slot.role == Role::kCondition ? operands.condition
                                        : operands.value,
        loaded);
  }

  void keep(Addr address, std::uint64_t size, const Members& set) {
    for (std::uint64_t i = 0; i < size; ++i) memory_[address.value + i] = set;
  }
  void add(Members& set, const Members& more) {
    set.insert(more.begin(), more.end());
    Members all = now(set);
    if (all.size() > kMostUnits)
      for (UnitMember unit : all) heard_.units.merge(*all.begin(), unit);
  }
  Members now(const Members& set) { return heard_.now(set, thread_); }
  std::vector<Members> conditions() {
    std::vector<Members> all;
    threads_[thread_].control.each([&](TagSet word) {
      Members some = word.empty() ? Members() : now(conditions_[word.word - 1]);
      if (!some.empty()) all.push_back(some);
      return true;
    });
    return all;
  }

  const SharedBlocks& blocks_;
  const CodeTable& code_;
  ControlTracker tracker_;
  Heard heard_;
  std::map<std::size_t, Thread> threads_;
  std::map<std::uint64_t, Members> memory_;  // by byte
  std::vector<Members> conditions_;          // the words of `control`, from 1
  std::size_t thread_ = 0;
};

// Both over one run, in one walk.
struct Both {
  Fast& fast;
  Plain& plain;
  std::map<ThreadId, std::size_t> numbers{};

  std::size_t number(ThreadId id) { return numbers.try_emplace(id, numbers.size()).first->second; }
  void exec(const Exec& exec) {
    fast.exec(exec, number(exec.thread));
    plain.exec(exec, number(exec.thread));
  }
  void event(const Event& event) {
    fast.event(event, number(event.thread));
    plain.event(event, number(event.thread));
  }
};

TEST(ValueFlow, IsTheDefinitionOnRandomMachineCode) {
  std::map<char, std::size_t> said;
  std::size_t from_units = 0;
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  std::size_t runs = random_runs(1000);
  for (std::size_t seed = 0; seed < runs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    TraceBuilder builder(process, random_chunks(random));
    random_machine_run(builder.writer(), random, 2 + random() % 120);
    TraceReader trace = builder.finish();
    Diagnostics diagnostics;
    ProgramModel model(trace, diagnostics);
    SharedBlocks blocks;
    Fast fast(model, trace, blocks);
    Plain plain(model, trace, blocks);
    Both both{fast, plain};
    auto walk = [&](auto& visitor) {
      trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
        chunk.walk(visitor);
        return true;
      });
    };
    walk(blocks);
    walk(both);
    for (std::size_t i = 0; i < std::min(fast.said().size(), plain.said().size()); ++i) {
      const Said& said_of_it = fast.said()[i];
      ASSERT_EQ(said_of_it, plain.said()[i]);
      ++said[said_of_it.what];
      from_units += said_of_it.what == 'w' && !said_of_it.set.empty() ? 1 : 0;
    }
    ASSERT_EQ(fast.said().size(), plain.said().size());
  }
  for (char what : {'a', 'r', 'w', 'b'}) EXPECT_GT(said[what], runs) << what;
  EXPECT_GT(from_units, runs);
}

// What a binding at first use does between any two calculations.
TEST(ValueFlow, HowIsRoundedFollowsFromNothing) {
  constexpr std::uint64_t kShared = 0x6000, kPrivate = 0x5000, kState = 0x4000;
  class Stores final : public SharedMemory {
   public:
    bool shared(Seq, bool, Addr address, std::uint64_t) override {
      return address.value >= kShared;
    }
    void address(Seq, TagSet) override {}
    UnitMember read(TagSet) override { return units.begin(0); }
    void write(TagSet value, TagSet) override { follow.push_back(!value.empty()); }
    void branch(Seq, TagSet) override {}
    Units units{1};
    std::vector<bool> follow;  // of each: its value from something
  } stores;

  Process process = TraceBuilder::text_process();
  process.has_values = false;
  TraceBuilder trace(process);
  Slot load{.instruction = 0, .size = 8}, store{.instruction = 0, .size = 8, .write = true};
  Slot restore = load, save = store;
  restore.size = save.size = 512;
  std::uint64_t pc = 0x401000;
  trace.writer().run(ThreadId(1));
  auto run = [&](const std::vector<std::uint8_t>& bytes, std::vector<Slot> slots,
                 std::uint64_t place) {
    Block block;
    block.instructions = {{Pc(pc), static_cast<std::uint8_t>(bytes.size())}};
    pc += bytes.size();
    block.code = bytes;
    block.slots = std::move(slots);
    trace.writer().exec(trace.writer().add(block), &place, nullptr);
  };
  run({0xf2, 0x0f, 0x10, 0x07}, {load}, kShared);   // movsd xmm0,[rdi]
  run({0x0f, 0xae, 0x06}, {save}, kState);          // fxsave [rsi]
  run({0x0f, 0xae, 0x0e}, {restore}, kState);       // fxrstor [rsi]
  run({0xf2, 0x0f, 0x10, 0x0e}, {load}, kPrivate);  // movsd xmm1,[rsi]
  run({0xf2, 0x0f, 0x58, 0xc9}, {}, 0);             // addsd xmm1,xmm1
  run({0xf2, 0x0f, 0x11, 0x0f}, {store}, kShared);  // movsd [rdi],xmm1
  run({0xf2, 0x0f, 0x11, 0x07}, {store}, kShared);  // movsd [rdi],xmm0
  TraceReader reader = trace.finish();
  Diagnostics diagnostics;
  ProgramModel model(reader, diagnostics);
  ValueFlow flow(model.code, Fast::tracker(model, reader), 1, false, stores.units);
  reader.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
    struct Walk {
      ValueFlow& flow;
      Stores& stores;
      void exec(const Exec& exec) { flow.exec(exec, 0, true, stores); }
      void event(const Event&) {}
    } walk{flow, stores};
    chunk.walk(walk);
    return true;
  });
  EXPECT_EQ(stores.follow, (std::vector{false, true}));
}

}  // namespace
}  // namespace svd::test
