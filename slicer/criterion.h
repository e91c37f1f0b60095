// SPDX-License-Identifier: Apache-2.0
//
// What a person names to slice from, turned into instances of the run:
//
//     fault                     how the run ended (the default)
//     FILE:LINE[@N]             an execution of a line
//     FUNCTION[@N]              a call of a function
//     pc:0x1234[@N]             of an instruction; pc:module+0x12[@N] by the module's own addresses
//     seq:N                     the N-th instruction of the run
//     addr:0x1234[,SIZE][@SEQ]  what is in memory: at the end, or before an instruction
//     var:NAME[@SEQ]            the same for a variable of static storage
//     reg:NAME@SEQ              what is in a register before an instruction
//     output:N                  the bytes of the N-th write by a system call
//
// N counts executions from 1 in the order of the run, from the last one backward when negative;
// without it the last one is meant.
#pragma once

#include <string>
#include <string_view>

#include "dpdg/program_model.h"
#include "slicer/failure.h"

namespace svd {

// Whether it is how the run ended.
bool names_end(std::string_view text);

// An Error of kUsage says what was not found, and what is near it.
Result<Failure> find_criterion(std::string_view text, const TraceReader& trace,
                               const ProgramModel& model, InstanceReader& instances,
                               SourceMap& source, Diagnostics& diagnostics);

}  // namespace svd
