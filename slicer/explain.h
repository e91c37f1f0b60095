// SPDX-License-Identifier: Apache-2.0
//
// The whole way from a trace and a criterion to a story.
#pragma once

#include <memory>
#include <string_view>

#include "dpdg/program_model.h"
#include "slicer/criterion.h"
#include "slicer/story.h"

namespace svd {

struct Explanation {
  Failure failure{};
  StoryPlace criterion{};  // where failure.at is
  Slice slice{};
  Story story{};
};

// Holds what all questions to one trace share. `trace` and `diagnostics` must outlive it.
class Explainer {
 public:
  // Walks the trace once; `progress` hears of instructions, here and in explain.
  Explainer(const TraceReader& trace, Diagnostics& diagnostics,
            const ProgressFunction& progress = no_progress);

  // An Error of kUsage says what of the criterion was not found.
  Result<Explanation> explain(std::string_view criterion, const SliceOptions& options,
                              const ProgressFunction& progress = no_progress);

  // Whether the instruction is in the slice, or at either end of an edge that the slice shows.
  bool is_on(const Slice& slice, Pc pc) const;

  SourceMap& source() { return source_; }

 private:
  const TraceReader& trace_;
  Diagnostics& diagnostics_;
  ProgramModel model_;
  SourceMap source_;
  InstanceReader instances_;
};

}  // namespace svd
