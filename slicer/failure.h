// SPDX-License-Identifier: Apache-2.0
//
// From how a run ended to what to slice from.
#pragma once

#include <string>
#include <vector>

#include "cfg/control_flow.h"
#include "dpdg/instance_reader.h"
#include "slicer/slice.h"
#include "svd/trace/result.h"
#include "symbols/source_map.h"

namespace svd {

struct Failure {
  std::vector<Criterion> criteria{};
  Instance at{};        // the instance of the program's own code to which the failure is put down
  std::string what{};   // "died of signal 11 (SIGSEGV)"
  bool failed = false;  // it is how a run failed, and no other place that somebody asked about
  friend bool operator==(const Failure&, const Failure&) = default;
};

// Where a slice of it begins:
// - a fault: what the address (of a division: the operands) follows from, and what decided;
// - an abort, a failed assertion, an uncaught exception: what decided that the innermost call from
//   the program's own code was made. Where the library that was called found something wrong (free
//   of what is free), also the argument and what the library tested;
// - an exit: the status, and what decided the call of exit.
Result<Failure> find_failure(const TraceReader& trace, const ControlFlow& flow,
                             InstanceReader& instances, SourceMap& source,
                             Diagnostics& diagnostics);

}  // namespace svd
