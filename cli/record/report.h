// SPDX-License-Identifier: Apache-2.0
//
// What svd-record says when a recording has ended: one line for each trace, and --stats.
#pragma once

#include "common/options.h"
#include "record/run.h"

namespace svd::cli {

void report(const Command& command, const RunOutcome& outcome);
void report_stats(const RunOutcome& outcome);
// "died of SIGSEGV"
std::string death(int signal);

}  // namespace svd::cli
