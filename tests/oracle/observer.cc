// SPDX-License-Identifier: Apache-2.0
#include "oracle/observer.h"

#include <signal.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "oracle/inputs.h"

namespace svd::test {
namespace {

// At least so many base states are tried, and more while something claimed was not seen.
constexpr int kBases = 14, kMostBases = 500, kTrials = 4;
constexpr std::size_t kBlockBytes = 32;

constexpr std::uint64_t kLaneMasks[] = {0xff, 0xff00, ~0xffffULL};

Lanes general_difference(std::uint64_t a, std::uint64_t b) {
  Lanes lanes = 0;
  for (unsigned i = 0; i < 3; ++i)
    if ((a ^ b) & kLaneMasks[i]) lanes = static_cast<Lanes>(lanes | 1U << i);
  return lanes;
}

Lanes vector_difference(const std::uint8_t* a, const std::uint8_t* b) {
  Lanes lanes = 0;
  for (unsigned i = 0; i < 4; ++i)
    if (std::memcmp(a + 4 * i, b + 4 * i, 4) != 0) lanes = static_cast<Lanes>(lanes | 1U << i);
  if (std::memcmp(a + 16, b + 16, 16) != 0) lanes |= kYmmUpper;
  return lanes;
}

using AllLanes = std::array<Lanes, kRegCount>;

void add(Lanes& lanes, int more) { lanes = static_cast<Lanes>(lanes | more); }

std::size_t index_of(Reg reg) { return static_cast<std::size_t>(reg); }

// The lanes in which two states differ; of mxcsr only its control bits count.
AllLanes difference(const CpuState& a, const CpuState& b) {
  AllLanes lanes{};
  for (std::size_t i = 0; i < 16; ++i)
    if (a.general[i] != b.general[i]) lanes[i] = general_difference(a.general[i], b.general[i]);
  lanes[index_of(Reg::kFlags)] = flag_lanes(a.flags ^ b.flags);
  if ((a.mxcsr ^ b.mxcsr) & kMxcsrControl) lanes[index_of(Reg::kMxcsr)] = kWhole;
  for (std::size_t i = 0; i < 16; ++i)
    if (a.vectors[i] != b.vectors[i])
      lanes[index_of(Reg::kVector) + i] =
          vector_difference(a.vectors[i].data(), b.vectors[i].data());
  return lanes;
}

Lanes all_lanes(std::size_t reg) {
  if (reg < 16) return kGeneral;
  if (reg == index_of(Reg::kFlags)) return kCf | kPf | kAf | kZf | kSf | kDf | kOf;
  if (reg == index_of(Reg::kMxcsr)) return kWhole;
  if (reg >= index_of(Reg::kVector) && reg < index_of(Reg::kVector) + 16) return kYmm;
  return 0;
}

class Observer {
 public:
  Observer(Machine& machine, const Experiment& experiment, const InstrEffects& claimed)
      : machine_(machine), experiment_(experiment), inputs_(experiment, machine) {
    for (const RegUse& use : claimed.uses) add(claimed_reads_[index_of(use.reg)], use.lanes);
    for (const RegDef& def : claimed.defs) add(claimed_writes_[index_of(def.reg)], def.lanes);
    for (const MemoryOperand& operand : claimed.memory)
      (operand.write ? claimed_written_ : claimed_read_) += operand.size;
    for (std::size_t reg = 0; reg < kRegCount; ++reg)
      close_[reg] = claimed_reads_[reg] | claimed_writes_[reg];
    // vzeroupper and the like define much and depend on nothing: nothing to look at closely.
    if (claimed.defs.size() > 8) close_.fill(0);
  }

  Observation run() {
    machine_.set_code(experiment_.code);
    out_.roams = experiment_.roams;
    int tried = 0, signal = 0;
    for (int base = 0; base < kMostBases && (base < kBases || !all_seen()); ++base) {
      // What an immediate hides, another one of the same form shows.
      if (base >= kBases && experiment_.immediate_bytes != 0)
        machine_.set_code(inputs_.other_immediate());
      inputs_.make(base, state_, memory_);
      result_state_ = state_;
      result_memory_ = memory_;
      signal = execute(result_state_, result_memory_);
      if (signal != 0) continue;
      ++tried;
      note_writes(state_, memory_, result_state_, result_memory_);
      if (!steady()) {
        out_.left_out = "gives another value each time";
        return out_;
      }
      flip_registers();
      flip_memory();
      if (experiment_.segment) flip_segment();
    }
    for (std::size_t reg = 0; reg < kRegCount; ++reg)
      add(out_.reads[reg], own_[reg] & out_.writes[reg]);
    out_.memory_reads |= own_memory_ & out_.memory_writes;
    if (tried == 0) out_.left_out = signal == SIGILL ? "not of this processor" : "always faults";
    return out_;
  }

 private:
  bool all_seen() const {
    for (std::size_t reg = 0; reg < kRegCount; ++reg) {
      if (claimed_reads_[reg] & ~(out_.reads[reg] | (own_[reg] & out_.writes[reg]))) return false;
      if (claimed_writes_[reg] & ~out_.writes[reg]) return false;
    }
    Bytes read = out_.memory_reads | (own_memory_ & out_.memory_writes);
    return read.count() >= claimed_read_ && out_.memory_writes.count() >= claimed_written_;
  }

  int execute(CpuState& state, Memory& memory) {
    ++out_.runs;
    return machine_.run(state, memory);
  }

  bool steady() {
    CpuState state = state_;
    Memory memory = memory_;
    return execute(state, memory) == 0 && difference(state, result_state_) == AllLanes{} &&
           memory == result_memory_;
  }

  void note_writes(const CpuState& before, const Memory& memory_before, const CpuState& after,
                   const Memory& memory_after) {
    AllLanes changed = difference(before, after);
    for (std::size_t reg = 0; reg < kRegCount; ++reg) out_.writes[reg] |= changed[reg];
    if (memory_before == memory_after) return;
    for (std::size_t i = 0; i < memory_before.size(); ++i)
      if (memory_before[i] != memory_after[i]) out_.memory_writes.set(i);
  }

  // Changes of these move the operands.
  bool moves_operands(const AllLanes& lanes) const {
    for (std::size_t reg = 0; reg < 16; ++reg)
      if (lanes[reg] && experiment_.addresses[reg]) return true;
    return experiment_.vector_index &&
           lanes[index_of(Reg::kVector) + *experiment_.vector_index] != 0;
  }

  // Whether `lanes` as changed in `state` matter for anything but themselves.
  bool matters(const AllLanes& lanes, CpuState& state, Memory memory) {
    CpuState before = state;
    Memory memory_before = memory;
    if (execute(state, memory) != 0) return true;
    note_writes(before, moves_operands(lanes) ? memory : memory_before, state, memory);
    if (memory != result_memory_) return true;
    AllLanes changed = difference(state, result_state_);
    bool found = false;
    for (std::size_t reg = 0; reg < kRegCount; ++reg) {
      if (changed[reg] & ~lanes[reg]) found = true;
    }
    return found;
  }

  bool try_lanes(const AllLanes& lanes, int trial) {
    CpuState state = state_;
    inputs_.flip(lanes, trial, state);
    bool found = matters(lanes, state, memory_);
    changed_ = difference(state, result_state_);
    return found;
  }

  void flip_registers() {
    AllLanes rest{};
    // Lanes that are written hide what reaches them; they are changed one at a time.
    for (std::size_t reg = 0; reg < kRegCount; ++reg) add(close_[reg], out_.writes[reg]);
    for (std::size_t reg = 0; reg < kRegCount; ++reg)
      rest[reg] = static_cast<Lanes>(all_lanes(reg) & ~close_[reg] & ~out_.reads[reg]);
    if (try_lanes(rest, 0) || try_lanes(rest, 1))
      for (std::size_t reg = 0; reg < kRegCount; ++reg) close_[reg] = all_lanes(reg);
    for (std::size_t reg = 0; reg < kRegCount; ++reg) {
      for (unsigned bit = 0; bit < 7; ++bit) {
        auto lane = static_cast<Lanes>(1U << bit);
        if ((close_[reg] & all_lanes(reg) & lane) == 0) continue;
        for (int trial = 0; trial < kTrials && (out_.reads[reg] & lane) == 0; ++trial) {
          AllLanes one{};
          one[reg] = lane;
          if (try_lanes(one, trial))
            out_.reads[reg] |= lane;
          else
            add(own_[reg], changed_[reg] & lane);
        }
      }
    }
  }

  // Changes bytes [begin, end) but those already known as read. `inside`: their own new values
  // matter, too, where they are written.
  bool try_bytes(std::size_t begin, std::size_t end, int trial) {
    CpuState state = state_;
    Memory memory = memory_;
    inputs_.flip(begin, end, out_.memory_reads, trial, memory);
    Memory before = memory;
    if (execute(state, memory) != 0) return true;
    note_writes(state_, before, state, memory);
    bool found = difference(state, result_state_) != AllLanes{};
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory[i] == result_memory_[i]) continue;
      bool inside = i >= begin && i < end;
      if (!inside) found = true;
      // What a repetition did not reach passes by.
      bool written =
          !experiment_.repeats || memory_[i] != result_memory_[i] || before[i] != memory[i];
      if (written && inside && end - begin == 1) own_memory_.set(i);
      if (inside && out_.memory_writes[i] && !out_.memory_reads[i]) found |= end - begin > 1;
    }
    return found;
  }

  void flip_memory() {
    for (std::size_t window = 0; window < kWindows; ++window) {
      std::size_t start = window * kWindowBytes;
      bool any = false;
      for (int trial = 0; trial < kTrials; ++trial)
        any = try_bytes(start, start + kWindowBytes, trial) || any;
      if (!any) continue;
      for (std::size_t block = start; block < start + kWindowBytes; block += kBlockBytes) {
        bool in_block = false;
        for (int trial = 0; trial < kTrials; ++trial)
          in_block = try_bytes(block, block + kBlockBytes, trial) || in_block;
        if (!in_block) continue;
        for (std::size_t i = block; i < block + kBlockBytes; ++i)
          for (int trial = 0; trial < kTrials && !out_.memory_reads[i]; ++trial)
            if (try_bytes(i, i + 1, trial)) out_.memory_reads.set(i);
      }
    }
  }

  void flip_segment() {
    CpuState state = state_;
    machine_.set_gs_base(64);
    Memory memory = memory_;
    if (execute(state, memory) != 0 || difference(state, result_state_) != AllLanes{} ||
        memory != result_memory_)
      out_.reads[index_of(Reg::kGs)] = kWhole;
    machine_.set_gs_base(0);
  }

  Machine& machine_;
  const Experiment& experiment_;
  Inputs inputs_;
  Observation out_;
  AllLanes claimed_reads_{}, claimed_writes_{};
  std::size_t claimed_read_ = 0, claimed_written_ = 0;  // bytes of memory
  AllLanes close_{};                                    // lanes that are changed one at a time
  AllLanes changed_{};  // by what was tried last, if it did not fault
  AllLanes own_{};      // lanes whose value after depends on their value before
  Bytes own_memory_;
  CpuState state_, result_state_;
  Memory memory_{}, result_memory_{};
};

}  // namespace

Observation observe(Machine& machine, const Experiment& experiment, const InstrEffects& claimed) {
  return Observer(machine, experiment, claimed).run();
}

}  // namespace svd::test
