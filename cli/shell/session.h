// SPDX-License-Identifier: Apache-2.0
//
// What the commands of the shell share: the run that is asked about, where in it the user is, and
// where the answers go. The position is an instruction, and means right before it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/names.h"
#include "common/output.h"
#include "common/terminal.h"
#include "slicer/explain.h"
#include "slicer/queries/run_view.h"

namespace svd::cli {

// The words of a command's arguments.
std::vector<std::string_view> words_of(std::string_view text);

// An answer that is one sentence about what was asked.
Error wrong(std::string sentence);

class Session {
 public:
  // All must outlive it.
  Session(const TraceReader& trace, Explainer& explainer, RunView& run, const Names& names,
          const Style& style, Output& output, ProgressFunction patience);

  const TraceReader& trace() const { return trace_; }
  Explainer& explainer() { return explainer_; }
  SourceMap& source() { return explainer_.source(); }
  RunView& run() { return run_; }
  const Names& names() const { return names_; }
  const Style& style() const { return style_; }
  Output& output() { return output_; }
  void say(std::string_view line);
  // For long walks: ends them by an exception when the user does not want to wait.
  const ProgressFunction& patience() const { return patience_; }

  Seq position() const { return position_; }
  ThreadId thread();  // of the position
  // Where the run ended: where the user begins.
  Seq ending() const { return ending_; }
  // Goes there and says so; where the user was is remembered.
  void go(Seq to);
  Status back();

  // "12345", "50M"; must be an instruction of the trace.
  Result<Seq> seq(std::string_view word) const;
  Result<Found> find(Seq seq);
  // A place in memory: an address, a variable, a variable and an offset; ",SIZE" behind it.
  Result<Range> memory(std::string_view word);

 private:
  const TraceReader& trace_;
  Explainer& explainer_;
  RunView& run_;
  const Names& names_;
  const Style& style_;
  Output& output_;
  ProgressFunction patience_;
  Seq ending_{};
  Seq position_{};
  std::vector<Seq> been_;
};

}  // namespace svd::cli
