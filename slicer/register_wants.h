// SPDX-License-Identifier: Apache-2.0
//
// Which cells of a thread's registers a reverse walk looks for. The cells of a register are mostly
// wanted together, by one instance: they share one want until somebody means others of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "slicer/walk_code.h"
#include "slicer/wants.h"

namespace svd {

class RegisterWants {
 public:
  explicit RegisterWants(const WalkCode& code)
      : apart_(code.cell_count()), near_register_(code.near_register()) {
    for (std::size_t reg = 0; reg < code.near_cells().size(); ++reg)
      shared_[reg].all = code.near_cells()[reg];
  }

  // Of cells that may be wanted, by cell_bit.
  std::uint64_t bits() const { return bits_; }

  void want(const CellSet& use, Want want) {
    if (use.reg == kFarRegister) return want_far(static_cast<Cell>(use.cells), want);
    Shared& shared = shared_[use.reg];
    if (shared.cells == use.cells) return shared.want.merge(want);
    if ((bits_ & shared.all) != 0) return want_apart(use, want);
    shared.want = want;
    shared.cells = use.cells;
    bits_ |= use.cells;
  }
  void want(Cell cell, Want wanted) {
    if (cell >= kFarCell) return want_far(cell, wanted);
    want({cell_bit(cell), near_register_[cell]}, wanted);
  }

  // f(Want) for what those of the cells `defined`, none of them far, are wanted by; they are not
  // wanted any more. Not for those of `without_data`.
  template <class F>
  void take(std::uint64_t defined, std::uint64_t without_data, F&& f) {
    std::uint64_t taken = defined & bits_;
    bits_ &= ~taken;
    while (taken != 0) {
      Shared& shared = shared_[near_register_[static_cast<std::size_t>(std::countr_zero(taken))]];
      std::uint64_t cells = taken & shared.all;
      taken &= ~cells;
      if (shared.cells != 0) {
        shared.cells &= ~cells;
        if ((cells & ~without_data) != 0) f(shared.want);
        continue;
      }
      for (; cells != 0; cells &= cells - 1) {
        Want want = apart_[static_cast<std::size_t>(std::countr_zero(cells))];
        if ((cells & -cells & ~without_data) != 0) f(want);
      }
    }
  }

  // What wants a cell; nothing does any more.
  Want take(Cell cell) {
    if (cell >= kFarCell) return std::exchange(apart_[cell], {});
    Want want;
    take(cell_bit(cell), 0, [&want](Want found) { want = found; });
    return want;
  }
  // After far cells were taken.
  void look_for_far() {
    if ((bits_ & kFarBit) == 0) return;
    if (std::none_of(apart_.begin() + kFarCell, apart_.end(),
                     [](const Want& want) { return want.any(); }))
      bits_ &= ~kFarBit;
  }

 private:
  // What wants these cells of a register, all that are wanted of it; no cells: each by itself.
  struct Shared {
    Want want;
    std::uint64_t cells = 0;
    std::uint64_t all = 0;  // that the register has
  };

  void want_far(Cell cell, Want want) {
    apart_[cell].merge(want);
    bits_ |= kFarBit;
  }

  [[gnu::noinline]] void want_apart(const CellSet& use, Want want) {
    Shared& shared = shared_[use.reg];
    each(shared.cells, [&](std::size_t cell) { apart_[cell] = shared.want; });
    shared.cells = 0;
    each(use.cells & ~bits_, [&](std::size_t cell) { apart_[cell] = want; });
    each(use.cells & bits_, [&](std::size_t cell) { apart_[cell].merge(want); });
    bits_ |= use.cells;
  }

  template <class F>
  static void each(std::uint64_t cells, F&& f) {
    for (; cells != 0; cells &= cells - 1) f(static_cast<std::size_t>(std::countr_zero(cells)));
  }

  std::uint64_t bits_ = 0;
  std::array<Shared, kFarCell> shared_;  // by register
  std::vector<Want> apart_;              // by cell
  NearRegisters near_register_;
};

}  // namespace svd
