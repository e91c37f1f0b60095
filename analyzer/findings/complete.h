// SPDX-License-Identifier: Apache-2.0
//
// From what detectors found to what is told about it: a second look into the trace, at the few
// moments that matter, for addresses and values, and into the symbols for names.
#pragma once

#include <span>
#include <vector>

#include "detectors/lock_sets.h"
#include "detectors/moments.h"
#include "detectors/raw_finding.h"
#include "detectors/sites.h"
#include "dpdg/instance_reader.h"
#include "findings/finding.h"
#include "findings/places.h"
#include "svd/trace/reader.h"

namespace svd {

struct Source {
  const TraceReader& trace;
  const CodeTable& code;
  InstanceReader& instances;
  const Moments& moments;
  const Sites& sites;
  const LockSets& lock_sets;
  Places& places;
};

// Where the run's last instruction is; the run must have ended in a thread.
CodePlace last_place(const TraceReader& trace, Places& places);
// The same, told by the program's own function that had called what it is in.
CodePlace last_own_place(const TraceReader& trace, InstanceReader& instances, Places& places,
                         Diagnostics& diagnostics);

// One finding for each, not yet ranked. What a chunk that cannot be read again would have said is
// missing.
std::vector<Finding> complete(const Source& source, std::span<const RawFinding> found,
                              Diagnostics& diagnostics);

}  // namespace svd
