// SPDX-License-Identifier: Apache-2.0
//
// A trace with all that answers questions about it.
#pragma once

#include <utility>

#include "slicer/queries/run_view.h"

namespace svd::test {

struct AskedRun {
  explicit AskedRun(TraceReader reader)
      : trace(std::move(reader)), model(trace, diagnostics), run(trace, model, diagnostics) {}
  AskedRun(const AskedRun&) = delete;  // its parts point to each other
  AskedRun& operator=(const AskedRun&) = delete;
  ~AskedRun() = default;

  TraceReader trace;
  Diagnostics diagnostics;
  ProgramModel model;
  RunView run;
};

}  // namespace svd::test
