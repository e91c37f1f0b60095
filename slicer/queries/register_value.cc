// SPDX-License-Identifier: Apache-2.0
//
// Between two instructions that set a register every instruction sees the same value. The nearest
// one that shows it is taken: one before, the one that set it, or one after.
//
//     mov rbx,[rdi]     rbx is what was read here
//     lea rax,[rbx+8]   rax is that plus 8
//  =>                   what is in rdi, and in rcx?
//     mov [rdi+16],rcx  rdi is this address less 16, rcx is what is written here
#include "slicer/queries/register_value.h"

#include <algorithm>

#include "decode/formulas.h"
#include "slicer/queries/causes.h"

namespace svd {
namespace {

// Instructions of the thread that are looked at in each direction; what is not shown in so many is
// hardly used there.
constexpr std::size_t kMostSteps = 20'000;
// How far sums of registers that were set by sums of registers are followed.
constexpr unsigned kMostDepth = 6;

std::uint64_t low_bytes(std::uint64_t value, unsigned bytes) {
  return bytes >= 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

// An instruction with what it accessed.
struct Seen {
  const Step* step = nullptr;
  Seq seq{};
  Formulas formulas{};
  std::vector<MemoryAccess> accesses{};

  const MemoryAccess* first(bool write) const {
    auto found = std::find_if(accesses.begin(), accesses.end(),
                              [write](const MemoryAccess& a) { return a.slot->write == write; });
    return found == accesses.end() ? nullptr : &*found;
  }
  const MemoryAccess* last_write() const {
    auto found = std::find_if(accesses.rbegin(), accesses.rend(),
                              [](const MemoryAccess& a) { return a.slot->write; });
    return found == accesses.rend() ? nullptr : &*found;
  }
};

class Search {
 public:
  explicit Search(RunView& run) : run_(run) {}

  std::optional<RegisterValue> find(Reg reg, Seq at, unsigned depth) {
    auto here = run_.find(at);
    if (!here || here->facts.step->statement.value != 0) return std::nullopt;
    ThreadId thread = here->facts.instance.thread;
    Look look{*this, reg, thread, at, depth, {}, kMostSteps, false};
    for (std::size_t i = here->chunk_index + 1; i-- > 0 && !look.done();)
      if (auto chunk = chunk_of(i, thread)) chunk->walk_back(Back{look});
    if (look.full()) return look.found;
    look.ended = false, look.left = kMostSteps;
    for (std::size_t i = here->chunk_index; i < run_.trace().chunks().size() && !look.done(); ++i)
      if (auto chunk = chunk_of(i, thread)) chunk->walk_from(at, Ahead{look});
    return look.found;
  }

 private:
  struct Look {
    Search& search;
    Reg reg;
    ThreadId thread;
    Seq at;
    unsigned depth;
    std::optional<RegisterValue> found;
    std::size_t left;
    bool ended;

    bool full() const { return found && found->bytes == 8; }
    bool done() const { return full() || ended || left == 0; }
    void take(const std::optional<RegisterValue>& value) {
      if (value && (!found || found->bytes < value->bytes)) found = value;
    }
    // Of an instruction before: what it saw, or what it left there.
    void back(const Exec& exec, const Step& step, Seq seq) {
      --left;
      if (search.sets(step, reg)) {
        ended = true;
        take(search.result(reg, search.look_at(exec, step, seq), depth));
      } else {
        take(search.shown(reg, exec, step, seq));
      }
    }
    void ahead(const Exec& exec, const Step& step, Seq seq) {
      --left;
      take(search.shown(reg, exec, step, seq));
      ended = ended || search.sets(step, reg);
    }
  };

  template <class F>
  void each_step(const Exec& exec, bool backward, F&& f) const {
    const std::vector<Step>& steps = run_.code().block(exec.shape->id).steps;
    const Part& part = exec.shape->part;
    if (part.end > steps.size()) return;
    for (std::uint32_t n = 0; n < part.steps(); ++n) {
      std::uint32_t i = backward ? part.steps() - 1 - n : n;
      if (!f(steps[part.first + i], exec.seq + i)) return;
    }
  }

  struct Back {
    Look& look;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      if (exec.thread != look.thread || exec.seq >= look.at || look.done()) return;
      look.search.each_step(exec, true, [&](const Step& step, Seq seq) {
        if (seq < look.at) look.back(exec, step, seq);
        return !look.done();
      });
    }
  };
  struct Ahead {
    Look& look;
    void event(const Event&) {}
    void exec(const Exec& exec) {
      if (exec.thread != look.thread || look.done()) return;
      look.search.each_step(exec, false, [&](const Step& step, Seq seq) {
        if (seq >= look.at) look.ahead(exec, step, seq);
        return !look.done();
      });
    }
  };

  std::shared_ptr<const Chunk> chunk_of(std::size_t index, ThreadId thread) {
    return run_.index().last(index, thread) ? run_.chunk(index) : nullptr;
  }

  bool sets(const Step& step, Reg reg) const {
    auto defs = run_.code().defs(step);
    return std::any_of(defs.begin(), defs.end(),
                       [&](CellDef def) { return run_.code().reg_of(def.cell) == reg; });
  }
  bool uses(const Step& step, Reg reg) const {
    auto uses = run_.code().uses(step);
    return std::any_of(uses.begin(), uses.end(),
                       [&](CellUse use) { return run_.code().reg_of(use.cell) == reg; });
  }

  Seen look_at(const Exec& exec, const Step& step, Seq seq) const {
    Seen seen{&step, seq, {}, {}};
    const Block& block = exec.block();
    std::size_t index = exec.shape->part.first + (seq - exec.seq);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < index; ++i) offset += block.instructions[i].length;
    std::size_t length = block.instructions[index].length;
    if (offset + length <= block.code.size())
      seen.formulas = reader_.read(std::span(block.code).subspan(offset, length), step.pc);
    exec.accesses([&](const MemoryAccess& access) {
      if (access.seq == seq) seen.accesses.push_back(access);
    });
    return seen;
  }

  // The value before an instruction that uses it, where its accesses show it.
  std::optional<RegisterValue> shown(Reg reg, const Exec& exec, const Step& step, Seq seq) const {
    if (step.first_slot == step.end_slot || (reg != Reg::kRsp && !uses(step, reg)))
      return std::nullopt;
    Seen seen = look_at(exec, step, seq);
    const MemoryAccess* write = seen.last_write();
    const MemoryAccess* read = seen.first(false);
    if (seen.formulas.stored == reg && write != nullptr && write->has_value)
      return RegisterValue{write->value, static_cast<unsigned>(write->size)};
    if (reg == Reg::kRsp && seen.formulas.stack == Formulas::Stack::kPush && write != nullptr)
      return RegisterValue{write->address.value + write->size};
    if (reg == Reg::kRsp && seen.formulas.stack == Formulas::Stack::kPop && read != nullptr)
      return RegisterValue{read->address.value};
    const auto& address = seen.formulas.address;
    if (address && !seen.accesses.empty() && address->terms.size() == 1 &&
        address->terms[0].reg == reg && address->terms[0].factor == 1)
      return RegisterValue{seen.accesses[0].address.value - address->constant};
    return std::nullopt;
  }

  // The value after an instruction that sets it.
  std::optional<RegisterValue> result(Reg reg, const Seen& seen, unsigned depth) {
    if (seen.step->flow == Flow::kSystemCall && reg == Reg::kRax) return system_call(seen.seq);
    const MemoryAccess* write = seen.last_write();
    const MemoryAccess* read = seen.first(false);
    if (reg == Reg::kRsp && seen.formulas.stack == Formulas::Stack::kPush && write != nullptr)
      return RegisterValue{write->address.value};
    if (reg == Reg::kRsp && seen.formulas.stack == Formulas::Stack::kPop && read != nullptr &&
        seen.step->flow != Flow::kReturn)
      return RegisterValue{read->address.value + read->size};
    const auto& result = seen.formulas.result;
    if (!result || result->reg != reg) return std::nullopt;
    if (!result->sum) {
      if (read == nullptr || !read->has_value) return std::nullopt;
      std::uint64_t value = low_bytes(read->value, result->bytes);
      unsigned unused = 64 - 8 * result->bytes;
      if (result->is_signed)
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
      return RegisterValue{low_bytes(value, result->width)};
    }
    std::uint64_t value = result->sum->constant;
    for (const Sum::Term& term : result->sum->terms) {
      if (depth == kMostDepth) return std::nullopt;
      auto known = find(term.reg, seen.seq, depth + 1);
      if (!known || known->bytes < result->bytes) return std::nullopt;
      value += known->value * term.factor;
    }
    return RegisterValue{low_bytes(value, result->bytes)};
  }

  std::optional<RegisterValue> system_call(Seq seq) {
    auto found = run_.find(seq);
    if (!found) return std::nullopt;
    for (const EventPlace& place : kernel_events(run_, *found)) {
      auto chunk = run_.chunk(place.chunk);
      if (chunk == nullptr) continue;
      if (const auto* exit = std::get_if<SyscallExit>(&chunk->events[place.event].body))
        return RegisterValue{static_cast<std::uint64_t>(exit->result)};
    }
    return std::nullopt;
  }

  RunView& run_;
  FormulaReader reader_;
};

}  // namespace

std::optional<RegisterValue> register_value(RunView& run, Reg reg, Seq at) {
  return Search(run).find(reg, at, 0);
}

}  // namespace svd
