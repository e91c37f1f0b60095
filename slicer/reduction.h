// SPDX-License-Identifier: Apache-2.0
//
// Execution reduction (slicing paper, §3.3): the thread execution intervals that matter to a slice,
// so that a trace of just them slices to the same answer. An interval is what one thread executes
// until another one does.
#pragma once

#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "slicer/explain.h"
#include "svd/trace/copy.h"

namespace svd {

struct Interval {
  ThreadId thread{};
  Seq first{};
  Seq end{};
  bool kept = false;
  Seq place{};  // of its first instruction in the reduced trace, when it is kept
};

struct ReductionCounts {
  std::uint64_t threads = 0;
  std::uint64_t intervals = 0;
  std::uint64_t instructions = 0;
};

class Reduction {
 public:
  Reduction(const TraceReader& trace, Diagnostics& diagnostics);

  ReductionCounts before() const { return count(false); }
  ReductionCounts after() const { return count(true); }

  bool keeps(Seq seq) const { return intervals_[index(seq)].kept; }
  // Where a kept instruction is in the reduced trace, and back.
  Seq place(Seq seq) const;
  Seq origin(Seq place) const;

  // The intervals of the slice and of what its order edges lead to.
  void keep(const Slice& slice);
  // The interval of one instruction.
  void keep(Seq seq);
  // All that these threads did up to the last that is kept; false: it is already.
  bool keep_whole(const std::set<ThreadId>& threads);
  bool keep_all();

  ThreadId thread_at(Seq seq) const { return intervals_[index(seq)].thread; }
  CopyFilter filter() const;

 private:
  std::size_t index(Seq seq) const;  // of its interval
  ReductionCounts count(bool kept) const;
  bool keep_at(std::size_t index);
  void find_places();
  std::vector<Interval> intervals_;  // by first
};

// Writes the reduced trace and opens it.
using WriteReduced = std::function<Result<TraceReader>(const Reduction&)>;

// `whole` is what `criterion` was explained as by `options`, which ask for the instances. Each
// attempt is explained and compared: what a thread left out can have opened or closed a region, or
// saved a register. A thread about which something else is said is then kept from its beginning on,
// and as a last resort everything is. So the reduced trace tells the same, and where the criterion
// is how the run ended, that is found in it, too.
Result<Reduction> reduce(Explainer& explainer, std::string_view criterion, const Explanation& whole,
                         const SliceOptions& options, const WriteReduced& write,
                         Diagnostics& diagnostics);

}  // namespace svd
