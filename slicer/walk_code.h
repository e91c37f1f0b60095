// SPDX-License-Identifier: Apache-2.0
//
// The code of a trace as a reverse walk asks for it: what it needs of a step in less than a cache
// line, with what the options leave out left out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dpdg/code_table.h"
#include "slicer/slice.h"

namespace svd {

// Cells in a word: those of general registers and flags come first and have a bit each, those from
// kFarCell on have the last one together.
inline constexpr Cell kFarCell = 63;
constexpr std::uint64_t cell_bit(Cell cell) {
  return std::uint64_t{1} << (cell < kFarCell ? cell : kFarCell);
}
inline constexpr std::uint64_t kFarBit = cell_bit(kFarCell);

// Cells of a register: by their bits, or a far one by itself.
struct CellSet {
  std::uint64_t cells = 0;  // kFarRegister: the cell
  std::uint16_t reg = 0;
};
inline constexpr std::uint16_t kFarRegister = 0xffff;
using NearRegisters = std::array<std::uint8_t, kFarCell>;

struct WalkStep {
  std::uint64_t defines = 0;       // cells, by cell_bit
  std::uint64_t without_data = 0;  // those of them that follow from no data
  InstrId id{};
  std::uint32_t first_use = 0;  // into WalkCode's: values, addresses
  std::uint32_t first_far = 0;
  std::uint16_t values = 0;
  std::uint16_t addresses = 0;
  std::uint16_t far = 0;
  std::uint16_t first_slot = 0, end_slot = 0;
  Reg saved{};
  bool saves : 1 = false;
  bool restores : 1 = false;
  bool calls : 1 = false;
  bool returns : 1 = false;
  bool reads : 1 = false;  // what it computes with or forms addresses from
  bool writes : 1 = false;
};

class WalkCode {
 public:
  WalkCode(const CodeTable& code, std::span<const Block> blocks, const SliceOptions& options);

  std::span<const WalkStep> steps(BlockId id) const {
    return {steps_.data() + first_[id.value], steps_.data() + first_[id.value + 1]};
  }
  // The cells that a block defines.
  std::uint64_t defines(BlockId id) const { return defines_[id.value]; }

  // Uses that the options leave.
  std::span<const CellSet> values(const WalkStep& step) const {
    return {uses_.data() + step.first_use, step.values};
  }
  std::span<const CellSet> addresses(const WalkStep& step) const {
    return {uses_.data() + step.first_use + step.values, step.addresses};
  }
  // Definitions from kFarCell on.
  std::span<const Cell> far(const WalkStep& step) const {
    return {far_.data() + step.first_far, step.far};
  }
  std::span<const Cell> cells_of(Reg reg) const { return of_reg_[static_cast<std::size_t>(reg)]; }

  std::size_t cell_count() const { return cells_; }
  // Registers whose cells have bits: numbered, by cell, and their cells.
  const NearRegisters& near_register() const { return near_register_; }
  std::span<const std::uint64_t> near_cells() const { return near_cells_; }
  // The most accesses that a step has.
  std::size_t most_slots() const { return most_slots_; }

 private:
  WalkStep compile(const CodeTable& code, const Step& step, const Block& block,
                   const SliceOptions& options);
  void number_registers();
  void add_use(Cell cell, std::uint32_t first, std::uint16_t& count);

  std::vector<WalkStep> steps_;
  std::vector<std::size_t> first_;  // by block, and the end
  std::vector<std::uint64_t> defines_;
  std::vector<CellSet> uses_;
  std::vector<Cell> far_;
  std::vector<std::vector<Cell>> of_reg_;
  std::size_t cells_ = 0;
  NearRegisters near_register_{};
  std::vector<std::uint64_t> near_cells_;
  std::size_t most_slots_ = 0;
};

}  // namespace svd
