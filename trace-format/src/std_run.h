// SPDX-License-Identifier: Apache-2.0
//
// The run that an STD log tells, in memory: eight bytes an event. std_log.h says how events are
// kept. Const methods may be called from several threads at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog.h"
#include "svd/trace/chunk.h"
#include "svd/trace/result.h"
#include "svd/trace/std_log.h"

namespace svd {

class StdRun {
 public:
  // Fills in `catalog`. The log must outlive the run: names in it are views.
  static Result<StdRun> read(std::string_view log, const std::string& name_for_errors,
                             Catalog& catalog);

  // `index`: into catalog.chunks, of the catalog that was filled in.
  void decode(std::size_t index, const Catalog& catalog, const Columns& wanted, Chunk& out) const;

 private:
  friend class StdLoader;

  struct Step {
    std::uint32_t shape;    // into the piece's
    std::uint32_t operand;  // as in StdEvent
  };
  struct Turn {
    std::uint32_t thread;  // as in StdEvent
    std::uint32_t steps;
  };
  // What becomes a chunk.
  struct Piece {
    std::vector<Step> steps;
    std::vector<Turn> turns;
    std::vector<BlockId> shapes;
  };
  struct Thread {
    ThreadId id{};
    Seq start{};  // it is first mentioned there: it runs, or is forked or joined
  };

  void happened(StdOp op, std::uint32_t operand, Event& event, std::vector<Event>& events) const;

  std::vector<Piece> pieces_;
  std::vector<Thread> threads_;  // as all names, by the scanner's number
  std::vector<std::string_view> thread_names_;
  std::vector<std::string_view> transactions_;
  std::vector<StdOp> ops_;  // by block
};

}  // namespace svd
