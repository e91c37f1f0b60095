// SPDX-License-Identifier: Apache-2.0
#include "slicer/explain.h"

#include <algorithm>
#include <utility>

#include "slicer/forward.h"

namespace svd {

Explainer::Explainer(const TraceReader& trace, Diagnostics& diagnostics,
                     const ProgressFunction& progress)
    : Explainer(trace, std::make_unique<ProgramModel>(trace, diagnostics, progress), diagnostics) {}

Explainer::Explainer(const TraceReader& trace, std::unique_ptr<ProgramModel> model,
                     Diagnostics& diagnostics)
    : trace_(trace),
      diagnostics_(diagnostics),
      model_(std::move(model)),
      source_(trace, diagnostics),
      instances_(trace, model_->code, model_->control) {}

Result<Failure> Explainer::find(std::string_view criterion) {
  return find_criterion(criterion, trace_, *model_, instances_, source_, diagnostics_);
}

Explanation Explainer::explain(const Failure& failure, const SliceOptions& options,
                               const ProgressFunction& progress) {
  Explanation explanation;
  explanation.failure = failure;
  explanation.slice = slice_backward(input(), failure.criteria, options, diagnostics_, progress);
  tell(explanation);
  return explanation;
}

Result<Explanation> Explainer::explain(std::string_view criterion, const SliceOptions& options,
                                       const ProgressFunction& progress) {
  auto failure = find(criterion);
  if (!failure) return failure.error();
  // From here on it is known where the walk begins.
  return explain(*failure, options, progress);
}

Result<Explanation> Explainer::explain_forward(std::string_view criterion,
                                               const SliceOptions& options,
                                               const ProgressFunction& progress) {
  auto begin = find(criterion);
  if (!begin) return begin.error();
  Explanation explanation;
  explanation.way = Way::kForward;
  explanation.failure = *begin;
  explanation.failure.failed = false;
  explanation.slice =
      slice_forward(input(), model_->flow, begin->criteria, options, diagnostics_, progress);
  tell(explanation);
  return explanation;
}

Result<Explanation> Explainer::explain_between(std::string_view from, std::string_view to,
                                               const SliceOptions& options,
                                               const ProgressFunction& progress) {
  auto begin = find(from);
  if (!begin) return begin.error();
  auto end = find(to);
  if (!end) return end.error();
  Explanation explanation;
  explanation.way = Way::kBetween;
  explanation.failure = *end;
  explanation.from = *begin;
  explanation.slice =
      chop(input(), model_->flow, begin->criteria, end->criteria, options, diagnostics_, progress);
  tell(explanation);
  return explanation;
}

// The slice is whole; this only chooses and names what people see of it.
void Explainer::tell(Explanation& explanation) {
  StoryInput story{trace_, model_->code, instances_, source_};
  explanation.story = tell_story(story, explanation.slice, libraries_, diagnostics_);
  explanation.criterion = place_of(story, explanation.failure.at.id);
  if (explanation.way == Way::kBetween)
    explanation.from_place = place_of(story, explanation.from.at.id);
}

bool Explainer::is_on(const Slice& slice, Pc pc) const {
  auto here = [&](const Instance& instance) { return model_->code.pc_of(instance.id) == pc; };
  return std::any_of(slice.items.begin(), slice.items.end(),
                     [&](const SliceItem& item) { return model_->code.pc_of(item.id) == pc; }) ||
         std::any_of(slice.triples.begin(), slice.triples.end(), [&](const Triple& triple) {
           return here(triple.before) || here(triple.remote) || here(triple.after);
         });
}

}  // namespace svd
