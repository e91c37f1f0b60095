// SPDX-License-Identifier: Apache-2.0
//
// When certain instructions were executed: how often, the N-th time, the next time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slicer/queries/run_view.h"

namespace svd {

class Executions {
 public:
  // `wanted` by InstrId.
  Executions(RunView& run, std::vector<bool> wanted);

  std::uint64_t count() const { return count_; }
  // From 1 in the order of the run, from -1 back.
  std::optional<Seq> nth(std::int64_t n);
  std::optional<Seq> after(Seq seq);
  std::optional<Seq> before(Seq seq);
  // How many there are up to and with `seq`.
  std::uint64_t number(Seq seq);

 private:
  std::uint64_t count_in(std::size_t chunk) const;
  // All of a chunk, ascending.
  std::vector<Seq> in(std::size_t chunk);

  RunView& run_;
  std::vector<bool> wanted_;
  std::uint64_t count_ = 0;
};

}  // namespace svd
