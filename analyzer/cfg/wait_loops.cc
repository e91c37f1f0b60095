// SPDX-License-Identifier: Apache-2.0
//
// Natural loops by their definition: the edge u -> h closes one when no way from where the function
// is entered leads to u without h, and its blocks are those on ways from h to u. Only small loops
// are looked at, so that finding the blocks costs little.
//
// Then each register and slot of the frame has a value at each place in the loop: what it had
// before the loop, what this round made of such values and of memory, or something that has to do
// with earlier rounds. What holds in all rounds is found by assuming that everything is as before
// the loop, and taking back what the end of a round refutes, until nothing is refuted.

#include "cfg/wait_loops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cfg/flow_graph.h"
#include "decode/decoder.h"

namespace svd {
namespace {

// A loop that waits is short; one with a pause, a yield, a time-out and a back-off has 12 blocks.
constexpr std::size_t kMostBlocks = 16;
constexpr std::size_t kMostInstructions = 96;
constexpr int kMostPasses = 64;        // over a loop's blocks
constexpr std::size_t kMostSteps = 4;  // blocks without a branch that are followed

constexpr std::uint8_t kStackPointer = 4, kFramePointer = 5;  // as the hardware numbers them

// A lane of a register, or a slot of the frame: base, size and displacement.
using Location = std::uint64_t;
constexpr Location kSlot = Location{1} << 63;

Location lane_of(Reg reg, unsigned lane) { return static_cast<Location>(reg) << 3 | lane; }
Location slot_of(std::uint8_t base, std::uint64_t size, std::uint64_t displacement) {
  return kSlot | Location{base} << 48 | size << 32 | (displacement & 0xffffffff);
}
bool overlap(Location a, Location b) {
  if ((a >> 48) != (b >> 48)) return false;
  auto begin = [](Location slot) { return std::int64_t{static_cast<std::int32_t>(slot)}; };
  auto end = [&](Location slot) {
    return begin(slot) + static_cast<std::int64_t>(slot >> 32 & 0xffff);
  };
  return begin(a) < end(b) && begin(b) < end(a);
}
// The lanes of a register had one value before the loop.
Location origin_of(Location at) { return (at & kSlot) != 0 ? at : at >> 3; }

struct Value {
  enum class Kind { kBefore, kRound, kVaried } kind = Kind::kBefore;
  std::uint64_t origin = 0;  // kBefore: whose; kRound: the instruction that made it
  std::vector<Pc> loads{};   // that it follows from, ascending

  bool varied() const { return kind == Kind::kVaried; }
  bool operator==(const Value&) const = default;
};
const Value kVaried{Value::Kind::kVaried, 0, {}};

void add_loads(std::vector<Pc>& to, const std::vector<Pc>& loads) {
  std::vector<Pc> all;
  std::set_union(to.begin(), to.end(), loads.begin(), loads.end(), std::back_inserter(all));
  to = std::move(all);
}

class State {
 public:
  Value at(Location location) const {
    auto known = values_.find(location);
    return known == values_.end() ? Value{Value::Kind::kBefore, origin_of(location), {}}
                                  : known->second;
  }
  void set(Location location, Value value) { values_[location] = std::move(value); }
  void store(Location slot, Value value) {
    for (auto& [other, old] : values_)
      if ((other & kSlot) != 0 && overlap(other, slot)) old = kVaried;
    set(slot, std::move(value));
  }
  // Whether another slot of the loop has some of these bytes.
  bool mixed(Location slot) const {
    return std::any_of(values_.begin(), values_.end(), [&](const auto& known) {
      return (known.first & kSlot) != 0 && known.first != slot && overlap(known.first, slot);
    });
  }
  void merge(const State& other) {
    for (auto& [location, value] : values_)
      if (!(value == other.at(location))) value = kVaried;
    for (const auto& [location, value] : other.values_)
      if (!(value == at(location))) set(location, kVaried);
  }
  template <class F>
  void each(F&& f) const {
    for (const auto& [location, value] : values_) f(location, value);
  }
  bool operator==(const State&) const = default;

 private:
  std::map<Location, Value> values_;
};

struct Instruction {
  Address at = 0;
  CodeStep step{};
  InstrEffects effects{};
};

// What instructions do to a state.
class Evaluation {
 public:
  explicit Evaluation(bool frame_pointer) : frame_pointer_(frame_pointer) {}

  // False: it writes what others may see, or is not understood.
  bool run(const Instruction& instruction, State& state) const {
    const InstrEffects& effects = instruction.effects;
    switch (effects.flow) {
      case Flow::kCall:
      case Flow::kIndirectCall:
        forget(state, {Reg::kRax, Reg::kRcx, Reg::kRdx, Reg::kRsi, Reg::kRdi, Reg::kFlags});
        for (int reg = 8; reg < 12; ++reg) forget(state, {static_cast<Reg>(reg)});
        for (int reg = 0; reg < 32; ++reg)
          forget(state, {static_cast<Reg>(static_cast<int>(Reg::kVector) + reg)});
        return true;
      case Flow::kSystemCall:
        forget(state, {Reg::kRax, Reg::kRcx, static_cast<Reg>(11)});
        return true;
      case Flow::kNext:
      case Flow::kJump:
      case Flow::kBranch:
        return compute(instruction, state);
      default:
        return false;
    }
  }

  // What the branch decides by.
  Value condition(const Instruction& branch, const State& state) const {
    std::optional<Value> result;
    for (const RegUse& use : branch.effects.uses) take(use, branch.at, state, result);
    return result.value_or(kVaried);
  }

 private:
  static void forget(State& state, std::initializer_list<Reg> registers) {
    for (Reg reg : registers)
      for (unsigned lane = 0; lane < 8; ++lane) state.set(lane_of(reg, lane), kVaried);
  }

  // One value is itself; several make a new one.
  static void take(const Value& value, Address at, std::optional<Value>& result) {
    if (!result || *result == value) {
      result = value;
    } else if (result->varied() || value.varied()) {
      result = kVaried;
    } else {
      std::vector<Pc> loads = result->loads;
      add_loads(loads, value.loads);
      result = Value{Value::Kind::kRound, at, std::move(loads)};
    }
  }
  static void take(const RegUse& use, Address at, const State& state,
                   std::optional<Value>& result) {
    for (unsigned lane = 0; lane < 8; ++lane)
      if ((use.lanes >> lane & 1) != 0) take(state.at(lane_of(use.reg, lane)), at, result);
  }

  bool compute(const Instruction& instruction, State& state) const {
    const InstrEffects& effects = instruction.effects;
    if (!effects.known || effects.repeated) return false;
    if (!effects.memory.empty() && !instruction.step.memory) return false;  // push, pop, strings
    std::optional<Value> value;
    for (const RegUse& use : effects.uses)
      if (use.role == UseRole::kValue || use.role == UseRole::kCondition)
        take(use, instruction.at, state, value);
    std::optional<Location> written;
    for (const MemoryOperand& operand : effects.memory) {
      std::optional<Location> slot = slot_at(instruction.step, operand, state);
      if (!operand.write) {
        take(load(instruction, slot, state), instruction.at, value);
      } else if (slot && !effects.atomic) {
        written = slot;
      } else {
        return false;
      }
    }
    Value result{Value::Kind::kRound, instruction.at, value ? value->loads : std::vector<Pc>{}};
    if (value && (value->varied() || effects.copy)) result = *value;
    if (written) state.store(*written, result);
    for (const RegDef& def : effects.defs)
      for (unsigned lane = 0; lane < 8; ++lane)
        if ((def.lanes >> lane & 1) != 0)
          state.set(lane_of(def.reg, lane), def.stack ? kVaried : result);
    return true;
  }

  std::optional<Location> slot_at(const CodeStep& step, const MemoryOperand& operand,
                                  const State& state) const {
    bool frame = step.base == kStackPointer || (step.base == kFramePointer && frame_pointer_);
    if (!frame || step.index != CodeStep::kNone || operand.size == 0) return std::nullopt;
    auto base = static_cast<Reg>(step.base);
    if (state.at(lane_of(base, 0)).kind != Value::Kind::kBefore) return std::nullopt;
    return slot_of(step.base, operand.size, step.displacement);
  }

  // What the frame holds since before the loop can be another thread's to change, as all memory.
  static Value load(const Instruction& instruction, std::optional<Location> slot,
                    const State& state) {
    if (slot) {
      if (state.mixed(*slot)) return kVaried;
      Value value = state.at(*slot);
      if (!(value == Value{Value::Kind::kBefore, *slot, {}})) return value;
    }
    std::optional<Value> address;
    for (const RegUse& use : instruction.effects.uses)
      if (use.role == UseRole::kAddress) take(use, instruction.at, state, address);
    if (address && address->varied()) return kVaried;
    Value value{Value::Kind::kRound, instruction.at, {Pc(instruction.at)}};
    if (address) add_loads(value.loads, address->loads);
    return value;
  }

  bool frame_pointer_;
};

class Finder {
 public:
  Finder(const FlowGraph& flow, const CodeMap& map, const Decoder& decoder)
      : flow_(flow), map_(map), decoder_(decoder), predecessors_(flow.blocks.size()) {
    for (std::uint32_t v = 0; v < flow.blocks.size(); ++v)
      for (std::uint32_t to : flow.graph.of(v))
        if (to != flow.graph.exit()) predecessors_[to].push_back(v);
  }

  std::vector<WaitLoop> run() {
    std::vector<WaitLoop> found;
    for (std::uint32_t head = 0; head < flow_.blocks.size(); ++head) {
      std::set<std::uint32_t> body = loop_of(head);
      if (body.empty()) continue;
      if (auto loop = wait_loop(head, body)) found.push_back(std::move(*loop));
    }
    return found;
  }

 private:
  // mov %rsp,%rbp where the function begins: rbp is no register for other things.
  bool sets_frame_pointer() const {
    for (const BasicBlock& block : flow_.blocks) {
      if (!block.root) continue;
      for (const Instruction& i : instructions(block)) {
        bool copies = i.effects.copy && i.effects.memory.empty() && i.effects.defs.size() == 1;
        if (copies && i.effects.defs[0].reg == Reg::kRbp && i.effects.uses.size() == 1 &&
            i.effects.uses[0].reg == Reg::kRsp)
          return true;
      }
    }
    return false;
  }

  // The blocks of all small loops with that head; none: empty.
  std::set<std::uint32_t> loop_of(std::uint32_t head) const {
    std::set<std::uint32_t> body;
    for (std::uint32_t latch : predecessors_[head]) {
      std::vector<std::uint32_t> blocks{head};
      auto add = [&blocks](std::uint32_t v) {
        if (std::find(blocks.begin(), blocks.end(), v) == blocks.end()) blocks.push_back(v);
      };
      add(latch);
      bool closed = true;
      for (std::size_t i = 1; closed && i < blocks.size(); ++i) {
        closed = !flow_.blocks[blocks[i]].root && blocks.size() <= kMostBlocks;
        if (closed)
          std::for_each(predecessors_[blocks[i]].begin(), predecessors_[blocks[i]].end(), add);
      }
      if (closed) body.insert(blocks.begin(), blocks.end());
    }
    return body.size() <= kMostBlocks ? body : std::set<std::uint32_t>{};
  }

  std::vector<Instruction> instructions(const BasicBlock& block) const {
    std::vector<Instruction> result;
    const CodeRegion* region = map_.find(block.begin);
    if (region == nullptr) return result;
    for (Address at = block.begin; at <= block.last && result.size() <= kMostInstructions;) {
      Instruction instruction{at, region->step(at), {}};
      if (instruction.step.length == 0) break;
      instruction.effects =
          decoder_.decode(region->code.bytes.subspan(at - region->code.begin), Pc(at));
      at += instruction.step.length;
      result.push_back(std::move(instruction));
    }
    return result;
  }

  std::optional<WaitLoop> wait_loop(std::uint32_t head, const std::set<std::uint32_t>& body) {
    std::map<std::uint32_t, std::vector<Instruction>> code;
    std::size_t count = 0;
    for (std::uint32_t v : body) count += (code[v] = instructions(flow_.blocks[v])).size();
    if (count > kMostInstructions) return std::nullopt;
    if (!frame_pointer_) frame_pointer_ = sets_frame_pointer();
    auto before_branch = evaluate(head, code);
    if (before_branch.empty()) return std::nullopt;
    WaitLoop loop;
    std::vector<std::uint32_t> ends;  // where the loop goes when the wait is over
    for (std::uint32_t v : body) {
      auto before = before_branch.find(v);
      if (before == before_branch.end() || code[v].empty()) return std::nullopt;  // not understood
      loop.blocks.push_back({Pc(flow_.blocks[v].begin), Pc(flow_.blocks[v].last)});
      auto left = outside(v, body);
      if (!left || code[v].back().effects.flow != Flow::kBranch) continue;
      Value condition = Evaluation(*frame_pointer_).condition(code[v].back(), before->second);
      if (condition.varied() || condition.loads.empty()) continue;
      add_loads(loop.reads, condition.loads);
      ends.push_back(*left);
    }
    if (loop.reads.empty()) return std::nullopt;
    add_guards(body, code, ends, loop);
    return loop;
  }

  // The states before the last instruction of each block; empty: the loop has effects.
  std::map<std::uint32_t, State> evaluate(
      std::uint32_t head, const std::map<std::uint32_t, std::vector<Instruction>>& code) const {
    Evaluation evaluation(*frame_pointer_);
    std::map<std::uint32_t, State> before, out;
    State first;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      bool changed = false;
      for (const auto& [v, instructions] : code) {
        State state = first;
        if (v != head) {
          bool reached = false;
          for (std::uint32_t from : predecessors_[v]) {
            auto known = out.find(from);
            if (known == out.end()) continue;
            if (reached)
              state.merge(known->second);
            else
              state = known->second;
            reached = true;
          }
          if (!reached) continue;
        }
        for (const Instruction& instruction : instructions) {
          if (&instruction == &instructions.back()) before[v] = state;
          if (!evaluation.run(instruction, state)) return {};
        }
        if (instructions.empty()) return {};
        auto [known, added] = out.try_emplace(v, state);
        if (!added && known->second == state) continue;
        known->second = state;
        changed = true;
      }
      // What a round changes is not as before the loop.
      for (std::uint32_t latch : predecessors_[head]) {
        auto known = out.find(latch);
        if (known == out.end()) continue;
        known->second.each([&](Location location, const Value& value) {
          Value as_before{Value::Kind::kBefore, origin_of(location), {}};
          if (value == as_before || first.at(location).varied()) return;
          first.set(location, kVaried);
          changed = true;
        });
      }
      if (!changed) return before;
    }
    return {};
  }

  std::optional<std::uint32_t> outside(std::uint32_t v, const std::set<std::uint32_t>& body) const {
    for (std::uint32_t to : flow_.graph.of(v))
      if (body.count(to) == 0) return to;
    return std::nullopt;
  }

  // The blocks that are met from v on, as long as there is no choice, and up to the body.
  std::vector<std::uint32_t> ahead(std::uint32_t v, const std::set<std::uint32_t>& body) const {
    std::vector<std::uint32_t> met{v};
    while (met.size() <= kMostSteps && v != flow_.graph.exit() && body.count(v) == 0) {
      auto next = flow_.graph.of(v);
      if (next.size() != 1) break;
      met.push_back(v = next.front());
    }
    return met;
  }

  void add_guards(const std::set<std::uint32_t>& body,
                  const std::map<std::uint32_t, std::vector<Instruction>>& code,
                  const std::vector<std::uint32_t>& ends, WaitLoop& loop) const {
    std::set<std::uint32_t> over;
    for (std::uint32_t end : ends)
      for (std::uint32_t v : ahead(end, body)) over.insert(v);
    std::vector<Pc> guards;
    for (std::uint32_t v = 0; v < flow_.blocks.size(); ++v) {
      auto sides = flow_.graph.of(v);
      if (!flow_.blocks[v].branch || body.count(v) != 0 || sides.size() != 2) continue;
      for (std::size_t side : {0U, 1U}) {
        if (body.count(ahead(sides[side], body).back()) == 0) continue;
        std::vector<std::uint32_t> other = ahead(sides[1 - side], body);
        if (std::none_of(other.begin(), other.end(), [&](auto at) { return over.count(at) != 0; }))
          continue;
        add_loads(guards, same_loads(v, loop, code));
      }
    }
    add_loads(loop.reads, guards);
  }

  // The loads that the branch decides by, if they are like those of the loop.
  std::vector<Pc> same_loads(std::uint32_t guard, const WaitLoop& loop,
                             const std::map<std::uint32_t, std::vector<Instruction>>& code) const {
    std::vector<Instruction> own = instructions(flow_.blocks[guard]);
    if (own.empty() || own.back().effects.flow != Flow::kBranch) return {};
    State state;
    Evaluation evaluation(*frame_pointer_);
    for (const Instruction& instruction : own) {
      // What it stores is no matter here.
      if (&instruction != &own.back() && !evaluation.run(instruction, state)) state = State();
    }
    std::vector<Pc> loads = evaluation.condition(own.back(), state).loads;
    std::erase_if(loads, [&](Pc at) {
      auto load =
          std::find_if(own.begin(), own.end(), [at](const auto& i) { return Pc(i.at) == at; });
      for (const auto& [v, instructions] : code)
        for (const Instruction& other : instructions)
          if (std::binary_search(loop.reads.begin(), loop.reads.end(), Pc(other.at)) &&
              other.step.map == load->step.map && other.step.code == load->step.code &&
              other.step.displacement == load->step.displacement)
            return false;
      return true;
    });
    return loads;
  }

  const FlowGraph& flow_;
  const CodeMap& map_;
  const Decoder& decoder_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::optional<bool> frame_pointer_;  // whether rbp is one, once it is known
};

}  // namespace

std::vector<WaitLoop> find_wait_loops(const FlowGraph& flow, const CodeMap& map,
                                      const Decoder& decoder) {
  return Finder(flow, map, decoder).run();
}

}  // namespace svd
