// SPDX-License-Identifier: Apache-2.0
//
// Everything static that passes over a trace's executions ask for, made in the order in which each
// part needs the one before.
#pragma once

#include <utility>

#include "cfg/control_flow.h"
#include "dpdg/code_table.h"
#include "dpdg/control_index.h"
#include "svd/trace/diagnostic.h"
#include "svd/trace/reader.h"

namespace svd {

struct ProgramModel {
  ProgramModel(const TraceReader& trace, Diagnostics& diagnostics,
               const ProgressFunction& progress = no_progress)
      : flow(ControlFlow::of(trace, diagnostics)),
        code(CodeTable::of(trace, flow, diagnostics)),
        control(ControlIndex::of(trace, code, flow, diagnostics, progress)) {}
  // Of what is known of the trace already.
  ProgramModel(const TraceReader& trace, ControlFlow known_flow, CodeTable known_code,
               Diagnostics& diagnostics)
      : flow(std::move(known_flow)),
        code(std::move(known_code)),
        control(ControlIndex::of(trace, code, flow, diagnostics)) {}
  ProgramModel(const ProgramModel&) = delete;  // its parts point to each other
  ProgramModel& operator=(const ProgramModel&) = delete;
  ~ProgramModel() = default;

  ControlFlow flow;
  CodeTable code;  // restores are marked
  ControlIndex control;
};

}  // namespace svd
