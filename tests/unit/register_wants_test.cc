// SPDX-License-Identifier: Apache-2.0
//
// Wants of registers, which share what they can, against one want for each cell.
#include "slicer/register_wants.h"

#include <gtest/gtest.h>

#include <random>

#include "dpdg/program_model.h"
#include "support/random_run.h"

namespace svd::test {
namespace {

// Nothing but cells.
class PlainWants {
 public:
  explicit PlainWants(std::size_t cells) : wants_(cells) {}
  void want(Cell cell, Want want) { wants_[cell].merge(want); }
  // The nearest of what the cells were wanted by.
  Want take(const std::vector<Cell>& cells, std::uint64_t without_data) {
    Want nearest;
    for (Cell cell : cells) {
      if ((cell_bit(cell) & without_data) == 0) nearest.merge(wants_[cell]);
      wants_[cell] = {};
    }
    return nearest;
  }

 private:
  std::vector<Want> wants_;
};

TEST(RegisterWants, AreThoseOfEachCell) {
  std::mt19937_64 random(1);
  Process process = TraceBuilder::text_process();
  process.has_values = false;
  TraceBuilder builder(process);
  random_machine_run(builder.writer(), random, 2000);
  TraceReader trace = builder.finish();
  Diagnostics diagnostics;
  ProgramModel model(trace, diagnostics);
  WalkCode code(model.code, trace.blocks(), {});
  RegisterWants actual(code);
  PlainWants expected(code.cell_count());
  std::size_t several = 0;  // cells were meant at once
  for (std::uint64_t turn = 0; turn < 100'000; ++turn) {
    auto reg = static_cast<Reg>(random() % static_cast<std::size_t>(Reg::kX87));
    std::vector<Cell> cells;
    std::uint64_t bits = 0;
    for (Cell cell : code.cells_of(reg))
      if (cell < kFarCell && random() % 3 != 0) cells.push_back(cell), bits |= cell_bit(cell);
    if (cells.empty()) continue;
    several += cells.size() > 1 ? 1 : 0;
    if (random() % 2 == 0) {
      Place place{Mark(Seq(turn), 0), InstrId(0)};
      Want want(place, static_cast<Distance>(random() % 8), Via::kValue);
      actual.want({bits, code.near_register()[cells[0]]}, want);
      for (Cell cell : cells) expected.want(cell, want);
    } else {
      std::uint64_t without_data = random() % 4 == 0 ? cell_bit(cells[0]) : 0;
      Want found;
      actual.take(bits, without_data, [&found](Want want) { found.merge(want); });
      ASSERT_EQ(found, expected.take(cells, without_data)) << "turn " << turn;
    }
  }
  EXPECT_GT(several, 1000U);
}

}  // namespace
}  // namespace svd::test
