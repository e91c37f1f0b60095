// SPDX-License-Identifier: Apache-2.0
#include "support/reference_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "decode/decoder.h"

namespace svd::test {
namespace {

constexpr std::uint64_t kOutermost = std::numeric_limits<std::uint64_t>::max();

std::vector<PlainArc> ascending(std::vector<PlainArc> arcs) {
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return arcs;
}

// What stands before `end`.
struct Before {
  Seq end;
  template <class Visitor>
  void walk(const TraceReader& trace, Visitor& visitor) const {
    struct Cut {
      Seq end;
      Visitor& inner;
      void exec(const Exec& exec) {
        if (exec.seq < end) inner.exec(exec);
      }
      void event(const Event& event) {
        if (event.seq < end) inner.event(event);
      }
    } cut{end, visitor};
    Diagnostics diagnostics;
    trace.scan(TraceReader::Order::kForward, {}, diagnostics, [&](const Chunk& chunk) {
      chunk.walk(cut);
      return chunk.end_seq() < end;
    });
  }
};

// ---- What an instruction has to do with saved registers ----

bool callee_saved(Reg reg) {
  return reg == Reg::kRbx || reg == Reg::kRbp || (reg > static_cast<Reg>(11) && reg <= Reg::kR15);
}

bool by_stack(const InstrEffects& effects) {
  return std::any_of(effects.uses.begin(), effects.uses.end(), [](const RegUse& use) {
    return use.role == UseRole::kStack || (use.role == UseRole::kAddress && use.reg == Reg::kRbp);
  });
}

bool one_word(const InstrEffects& effects, bool write) {
  return effects.memory == std::vector<MemoryOperand>{{write, 8}} && by_stack(effects);
}

// Copies a whole callee-saved register into the frame.
std::optional<Reg> saves(const InstrEffects& effects) {
  if (!effects.copy || !one_word(effects, true)) return {};
  for (const RegUse& use : effects.uses)
    if (use.role == UseRole::kValue && callee_saved(use.reg)) return use.reg;
  return {};
}

// Copies one from the frame; leave does, too.
std::optional<Reg> loads(const InstrEffects& effects) {
  if (effects.flow != Flow::kNext || !one_word(effects, false)) return {};
  std::vector<Reg> loaded;
  bool stack = false;
  for (const RegDef& def : effects.defs) {
    if (def.reg == Reg::kRsp) {
      stack = true;
    } else {
      loaded.push_back(def.reg);
    }
  }
  if (loaded.size() != 1 || !callee_saved(loaded[0])) return {};
  bool leave = loaded[0] == Reg::kRbp && stack;
  return effects.copy || leave ? std::optional(loaded[0]) : std::nullopt;
}

// ---- The walk ----

using Lane = std::pair<Reg, unsigned>;

// A register and the writers of its lanes.
struct Save {
  Reg reg{};
  std::map<unsigned, Seq> writers{};
};

struct Executed {
  Pc pc{};
  Seq seq{};
  bool branch = false;
  Pc end{};
};

struct Activation {
  std::uint64_t slot = kOutermost;  // of the return address
  std::optional<Seq> call{};
  std::optional<std::uint32_t> function{};  // once something of it ran
  bool handler = false;
  std::vector<Executed> run{};           // its branches and what can end their regions
  std::map<std::uint64_t, Reg> saves{};  // by place
};

struct Thread {
  std::vector<Activation> active{1};
  std::optional<Seq> last;
  Pc last_pc;
  std::map<Lane, Seq> writers;
  std::map<StatementId, Seq> statements;
};

struct Byte {
  std::optional<std::pair<Seq, ThreadId>> writer;
  std::map<ThreadId, Seq> readers;  // since then: of each thread the last
  std::optional<Seq> carried;       // who put it into the channel that it came from, or is in
};

class Reference {
 public:
  Reference(const TraceReader& trace, const ControlFlow& flow) : trace_(trace), flow_(flow) {
    Decoder decoder;
    for (const Block& block : trace.blocks()) effects_.push_back(decoder.decode(block));
  }

  // Which instructions restored a register whenever they ran, and which instances faulted.
  void find_restores_and_faults() {
    Before{Seq(std::numeric_limits<std::uint64_t>::max())}.walk(trace_, *this);
    for (Pc pc : failed_) restores_.erase(pc);
  }

  std::vector<PlainArc> arcs(Seq end) {
    threads_.clear();
    drawing_ = true;
    Before{end}.walk(trace_, *this);
    return ascending(std::move(arcs_));
  }

  void exec(const Exec& exec) {
    const Block& block = exec.block();
    const Part& part = exec.shape->part;
    Thread& thread = of(exec.thread);
    std::vector<std::vector<MemoryAccess>> accesses(part.steps());
    exec.accesses([&](const MemoryAccess& access) {
      if (access.size > 0) accesses[access.seq - exec.seq].push_back(access);
    });
    if (part.end > block.size()) {  // a block that was lost
      thread.last = exec.end() - 1;
      return;
    }
    for (std::uint16_t i = part.first; i < part.end; ++i) {
      Seq me = exec.seq + static_cast<std::uint64_t>(i - part.first);
      const auto& mine = accesses[i - part.first];
      if (block.abstract()) {
        statement(thread, block.statements[i], me);
        memory(exec.thread, me, mine, false, false);
      } else {
        instruction(exec, i, me, mine);
      }
      thread.last = me;
    }
  }

  void event(const Event& event) {
    Thread& thread = of(event.thread);
    if (const auto* create = std::get_if<ThreadCreate>(&event.body)) {
      Thread& child = of(create->child);
      child.writers = thread.writers;
      if (!child.last) child.active[0].call = thread.last;
    } else if (const auto* signal = std::get_if<Signal>(&event.body)) {
      bool at_last = thread.last && thread.last_pc == signal->pc && signal->pc.value != 0;
      if (is_fault(signal->number) && signal->code > 0 && at_last) faults_.insert(*thread.last);
      if (signal->handler.value == 0 || signal->fatal) return;
      thread.active.push_back({.slot = 0, .call = thread.last, .handler = true});
    } else if (std::holds_alternative<SignalReturn>(event.body)) {
      for (std::size_t i = thread.active.size(); i-- > 1;)
        if (thread.active[i].handler) return thread.active.resize(i);
    } else if (const auto* kernel = std::get_if<KernelAccess>(&event.body)) {
      for (std::uint64_t i = 0; i < kernel->size; ++i) {
        Addr at = kernel->address + i;
        if (kernel->access == Access::kWrite)
          write(event.thread, thread.last, at);
        else if (thread.last)
          read(event.thread, *thread.last, at);
      }
    } else if (const auto* moved = std::get_if<Transfer>(&event.body)) {
      transfer(*moved, thread.last);
    } else if (const auto* called = std::get_if<SyscallEnter>(&event.body)) {
      if (thread.last)
        for (Reg reg : argument_registers(called->number))
          each_lane(reg, kGeneral, [&](Lane lane) {
            if (auto writer = thread.writers.find(lane); writer != thread.writers.end())
              add(ArcKind::kRegister, *thread.last, writer->second);
          });
    }
    if (auto fresh = fresh_memory(event); fresh && !is_realloc(event)) {
      bytes_.erase(bytes_.lower_bound(fresh->address),
                   bytes_.lower_bound(fresh->address + fresh->size));
    }
  }

 private:
  Thread& of(ThreadId id) { return threads_[id]; }

  void add(ArcKind kind, Seq use, std::optional<Seq> def, Addr byte = {}) {
    if (drawing_ && def) arcs_.push_back({kind, use, *def, byte});
  }

  // ---- Control ----

  void statement(Thread& thread, StatementId id, Seq me) {
    std::optional<Seq> parent;
    for (StatementId by : trace_.statements()[id.value].controlled_by)
      if (auto found = thread.statements.find(by); found != thread.statements.end())
        parent = std::max(parent, std::optional(found->second));
    add(ArcKind::kControl, me, parent);
    thread.statements[id] = me;
  }

  // The latest branch of the activation whose end has not come since, the instruction itself
  // included; where there is none, what made the activation.
  static std::optional<Seq> parent(const Activation& activation, Pc pc) {
    std::set<Pc> seen{pc};
    for (auto i = activation.run.rbegin(); i != activation.run.rend(); ++i) {
      if (i->branch && !seen.contains(i->end)) return i->seq;
      seen.insert(i->pc);
    }
    return activation.call;
  }

  // Into another function than before without a call: by a tail call, or back to where an active
  // call was made from.
  void arrive(Thread& thread, std::uint32_t function, Pc pc) {
    Activation& top = thread.active.back();
    if (!top.function || *top.function == kNoFunction || function == kNoFunction) {
      top.function = function;
    } else if (*top.function != function) {
      if (flow_.functions()[function].entry != pc)
        for (std::size_t i = thread.active.size(); i-- > 1 && !thread.active[i].handler;)
          if (thread.active[i - 1].function == function) return thread.active.resize(i);
      top.function = function;
      top.call = thread.last;
      top.run.clear();
    }
  }

  static void call(Thread& thread, std::uint64_t slot, Seq me) {
    while (thread.active.size() > 1 && !thread.active.back().handler &&
           thread.active.back().slot <= slot)
      thread.active.pop_back();
    thread.active.push_back({.slot = slot, .call = me});
  }

  static void leave(Thread& thread, std::uint64_t slot) {
    auto& active = thread.active;
    auto returned = std::find_if(active.rbegin(), std::prev(active.rend()),
                                 [slot](const Activation& a) { return a.slot == slot; });
    if (returned != std::prev(active.rend()))
      return active.resize(static_cast<std::size_t>(active.rend() - returned - 1));
    while (active.size() > 1 && !active.back().handler && active.back().slot < slot)
      active.pop_back();
  }

  // ---- Instructions ----

  void instruction(const Exec& exec, std::uint16_t index, Seq me,
                   const std::vector<MemoryAccess>& accesses) {
    const Block& block = exec.block();
    const InstrEffects& effects = effects_[exec.shape->id.value][index];
    Pc pc = block.instructions[index].pc;
    bool faulted = faults_.contains(me);
    Thread& thread = of(exec.thread);
    thread.last_pc = pc;
    ControlFlow::Point point = flow_.at(pc);
    if (index == exec.shape->part.first) arrive(thread, point.function, pc);
    if (drawing_) add(ArcKind::kControl, me, parent(thread.active.back(), pc));
    if (drawing_ && (point.branch || point.joins))
      thread.active.back().run.push_back({pc, me, point.branch, point.post_dominator});

    for (const RegUse& use : effects.uses)
      if (use.role != UseRole::kStack)
        each_lane(use.reg, use.lanes, [&](Lane lane) {
          if (auto writer = thread.writers.find(lane); writer != thread.writers.end())
            add(ArcKind::kRegister, me, writer->second);
        });

    // The stack access of a call is its last one, if the execution came so far.
    std::optional<std::uint64_t> frame;
    if (!accesses.empty() && last_of(block, index, accesses.back().slot))
      frame = accesses.back().address.value;
    std::optional<Save> restored;
    if (auto reg = loads(effects)) {
      auto& saves = thread.active.back().saves;
      auto save = frame ? saves.find(*frame) : saves.end();
      bool same = save != saves.end() && save->second == *reg;
      if (!drawing_) restores_.insert(pc);
      if (frame && !same) failed_.insert(pc);
      if (drawing_ && restores_.contains(pc) && same) restored = saved_[*frame];
    }
    memory(exec.thread, me, accesses, restored || effects.flow == Flow::kReturn, faulted);
    if (!faulted) define(thread, effects, me, restored);
    if (auto reg = saves(effects); reg && frame) thread.active.back().saves[*frame] = *reg;
    if (auto reg = saves(effects); reg && frame && !faulted) {
      Save& save = saved_[*frame] = {*reg};
      each_lane(*reg, kGeneral, [&](Lane lane) {
        if (auto writer = thread.writers.find(lane); writer != thread.writers.end())
          save.writers[lane.second] = writer->second;
      });
    }
    if (!frame) return;
    if (effects.flow == Flow::kCall || effects.flow == Flow::kIndirectCall)
      call(thread, *frame, me);
    else if (effects.flow == Flow::kReturn)
      leave(thread, *frame);
  }

  static void define(Thread& thread, const InstrEffects& effects, Seq me,
                     const std::optional<Save>& restored) {
    bool frame_pointer = effects.copy && effects.memory.empty() && effects.defs.size() == 1 &&
                         effects.defs[0].reg == Reg::kRbp && effects.uses.size() == 1 &&
                         effects.uses[0].reg == Reg::kRsp;
    for (const RegDef& def : effects.defs)
      each_lane(def.reg, def.lanes, [&](Lane lane) {
        thread.writers.erase(lane);
        if (def.stack || frame_pointer) return;
        if (!restored || restored->reg != def.reg)
          thread.writers[lane] = me;
        else if (auto writer = restored->writers.find(lane.second);
                 writer != restored->writers.end())
          thread.writers[lane] = writer->second;
      });
  }

  template <class F>
  static void each_lane(Reg reg, Lanes lanes, F&& f) {
    for (unsigned lane = 0; lane < 8; ++lane)
      if ((lanes >> lane & 1) != 0) f(Lane(reg, lane));
  }

  static bool last_of(const Block& block, std::uint16_t index, const Slot* slot) {
    return slot == &block.slots.back() ||
           (slot->instruction == index && slot[1].instruction > index);
  }

  // ---- Memory ----

  void memory(ThreadId thread, Seq me, const std::vector<MemoryAccess>& accesses, bool bypassed,
              bool faulted) {
    for (const MemoryAccess& access : accesses)
      for (std::uint64_t i = 0; i < access.size; ++i) {
        if (access.slot->write && faulted) continue;
        if (access.slot->write)
          write(thread, me, access.address + i);
        else if (!bypassed)
          read(thread, me, access.address + i);
      }
  }

  void read(ThreadId thread, Seq me, Addr at) {
    if (!drawing_) return;
    Byte& byte = bytes_[at];
    if (byte.writer)
      add(byte.writer->second == thread ? ArcKind::kMemory : ArcKind::kRemote, me,
          byte.writer->first, at);
    add(ArcKind::kChannel, me, byte.carried, at);
    byte.readers[thread] = me;
  }

  void write(ThreadId thread, std::optional<Seq> me, Addr at) {
    if (!drawing_) return;
    Byte& byte = bytes_[at];
    auto order = [&](ArcKind kind, ThreadId other, Seq before) {
      if (me && other != thread && before < *me) add(kind, *me, before, at);
    };
    if (byte.writer) order(ArcKind::kWriteAfterWrite, byte.writer->second, byte.writer->first);
    for (auto [other, seq] : byte.readers) order(ArcKind::kWriteAfterRead, other, seq);
    byte.writer.reset();
    if (me) byte.writer.emplace(*me, thread);
    byte.carried.reset();
    byte.readers.clear();
  }

  void transfer(const Transfer& transfer, std::optional<Seq> caller) {
    std::optional<Addr> there = channel_bytes(transfer);
    if (!drawing_ || !there || transfer.address.value == 0) return;
    for (std::uint64_t i = 0; i < transfer.size; ++i)
      if (transfer.access == Access::kRead)
        bytes_[*there + i].carried = caller;
      else
        bytes_[transfer.address + i].carried = bytes_[*there + i].carried;
  }

  static bool is_realloc(const Event& event) {
    const auto* made = std::get_if<Allocation>(&event.body);
    return made != nullptr && made->function == AllocFn::kRealloc;
  }

  const TraceReader& trace_;
  const ControlFlow& flow_;
  std::vector<std::vector<InstrEffects>> effects_;
  bool drawing_ = false;
  std::map<ThreadId, Thread> threads_;
  std::map<Addr, Byte> bytes_;
  std::map<std::uint64_t, Save> saved_;  // what was last saved to a place
  std::set<Pc> restores_, failed_;
  std::set<Seq> faults_;
  std::vector<PlainArc> arcs_;
};

// ---- The fast one ----

struct Collect {
  std::vector<PlainArc>* arcs;
  void operator()(const Arc& arc) {
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(arc.size, 1); ++i)
      arcs->push_back({arc.kind, arc.use.seq, arc.def, arc.address + i});
  }
};

constexpr std::array<std::string_view, kArcKinds> kKinds{
    "register", "memory", "remote", "channel", "control", "write after write", "write after read"};

void tell(const std::vector<PlainArc>& some, const std::vector<PlainArc>& others,
          std::string_view whose, std::string& text) {
  constexpr std::size_t kTold = 5;
  std::vector<PlainArc> only;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(),
                      std::back_inserter(only));
  for (std::size_t i = 0; i < std::min(kTold, only.size()); ++i)
    text += fmt::format("only {}: {} {} -> {} at {:#x}\n", whose,
                        kKinds[static_cast<std::size_t>(only[i].kind)], only[i].use.value,
                        only[i].def.value, only[i].byte.value);
  if (only.size() > kTold) text += fmt::format("and {} more\n", only.size() - kTold);
}

}  // namespace

std::vector<PlainArc> reference_arcs(const TraceReader& trace, const ControlFlow& flow, Seq end) {
  Reference reference(trace, flow);
  reference.find_restores_and_faults();
  return reference.arcs(end);
}

std::vector<PlainArc> fast_arcs(const TraceReader& trace, const ProgramModel& model, Seq end) {
  std::vector<PlainArc> arcs;
  Dependences<Collect> dependences(trace, model, Collect{&arcs});
  Before{end}.walk(trace, dependences);
  return ascending(std::move(arcs));
}

std::string difference(const std::vector<PlainArc>& fast, const std::vector<PlainArc>& reference) {
  std::string text;
  tell(fast, reference, "fast", text);
  tell(reference, fast, "the reference", text);
  return text;
}

}  // namespace svd::test
