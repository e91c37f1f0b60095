// SPDX-License-Identifier: Apache-2.0
//
// The whole way from a trace and a criterion to a story.
#pragma once

#include <memory>
#include <string_view>

#include "dpdg/program_model.h"
#include "slicer/backward.h"
#include "slicer/criterion.h"
#include "slicer/story.h"

namespace svd {

enum class Way { kBackward, kForward, kBetween };

struct Explanation {
  Way way = Way::kBackward;
  Failure failure{};
  StoryPlace criterion{};  // where failure.at is
  Failure from{};          // between: where the ways begin
  StoryPlace from_place{};
  Slice slice{};
  Story story{};
};

// Holds what all questions to one trace share. `trace` and `diagnostics` must outlive it.
class Explainer {
 public:
  // Walks the trace once; `progress` hears of instructions, here and in explain.
  Explainer(const TraceReader& trace, Diagnostics& diagnostics,
            const ProgressFunction& progress = no_progress);
  // Of the trace's model.
  Explainer(const TraceReader& trace, std::unique_ptr<ProgramModel> model,
            Diagnostics& diagnostics);

  // Stories tell what happened in libraries, too.
  void tell_libraries() { libraries_ = true; }

  // An Error of kUsage says what of the criterion was not found.
  Result<Failure> find(std::string_view criterion);
  Explanation explain(const Failure& failure, const SliceOptions& options,
                      const ProgressFunction& progress = no_progress);
  Result<Explanation> explain(std::string_view criterion, const SliceOptions& options,
                              const ProgressFunction& progress = no_progress);

  // What follows from the criterion.
  Result<Explanation> explain_forward(std::string_view criterion, const SliceOptions& options,
                                      const ProgressFunction& progress = no_progress);
  // What lies on a way from one criterion to another.
  Result<Explanation> explain_between(std::string_view from, std::string_view to,
                                      const SliceOptions& options,
                                      const ProgressFunction& progress = no_progress);

  // Whether the instruction is in the slice, or at either end of an edge that the slice shows.
  bool is_on(const Slice& slice, Pc pc) const;

  SourceMap& source() { return source_; }
  const ProgramModel& model() const { return *model_; }
  // For place_of and the like.
  StoryInput story_input() { return {trace_, model_->code, instances_, source_}; }
  SliceInput input() {
    return {trace_, model_->code, model_->control, number_lines(model_->code, source_)};
  }

 private:
  void tell(Explanation& explanation);

  const TraceReader& trace_;
  Diagnostics& diagnostics_;
  std::unique_ptr<ProgramModel> model_;
  SourceMap source_;
  InstanceReader instances_;
  bool libraries_ = false;
};

}  // namespace svd
