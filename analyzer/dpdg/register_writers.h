// SPDX-License-Identifier: Apache-2.0
//
// What executions of blocks do to who wrote each register last. A callee-saved register that an
// activation saves and restores keeps its writer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dpdg/block_plan.h"
#include "dpdg/byte_shadow.h"
#include "dpdg/control_tracker.h"
#include "svd/trace/chunk.h"

namespace svd {

class RegisterWriters {
 public:
  // `cells`: of the thread, by cell; kNoParent where nothing in the trace, or no data, is in it.
  void define(const BlockPlans& plans, const BlockPlans::Section& section, const Exec& exec,
              std::vector<Seq>& cells) {
    for (const PlannedSave& save : plans.of(section.saves)) {
      Writers writers;
      for (std::size_t i = 0; i < save.count; ++i) {
        const PlannedDef& def = save.cells[i];
        Seq writer = def.step == kBefore   ? cells[def.cell]
                     : def.step == kNoData ? kNoParent
                                           : exec.seq + def.step;
        writers.by_cell[i] = writer + 1;
      }
      saved_.set(Addr(exec.addresses[save.access]), kSavedBytes, writers);
    }
    for (PlannedDef def : plans.of(section.defs))
      cells[def.cell] = def.step == kNoData ? kNoParent : exec.seq + def.step;
    for (PlannedRestore restore : plans.of(section.restores))
      cells[restore.cell] =
          saved_.at(Addr(exec.addresses[restore.access])).by_cell[restore.number] - 1;
  }

  std::uint64_t memory_bytes() const { return saved_.memory_bytes(); }

 private:
  // Of the cells of a saved register, plus 1: that makes nothing of kNoParent.
  struct Writers {
    std::array<Seq, kMostSaved> by_cell{};
    friend bool operator==(const Writers&, const Writers&) = default;
  };
  static constexpr std::uint64_t kSavedBytes = 8;  // a whole register
  ByteShadow<Writers> saved_;                      // at the place of a saved register
};

}  // namespace svd
