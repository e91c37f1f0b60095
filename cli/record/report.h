// SPDX-License-Identifier: Apache-2.0
//
// What svd-record says when a recording has ended: one line for each trace, and --stats.
#pragma once

#include "record/options.h"
#include "record/run.h"

namespace svd::cli {

void report(const Command& command, const RecordRequest& request, const RunOutcome& outcome);

}  // namespace svd::cli
