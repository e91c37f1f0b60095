// SPDX-License-Identifier: Apache-2.0
//
// svd-record --runs and --until-failure: the same program again and again, under chaos, each time
// with another seed. The trace of a run that fails stays; that of one that passes does not, unless
// it was asked for.
//
// A run fails when the program dies of a signal, when it is not done at --timeout, or when the
// --check command fails. That is a line for the shell; it has the program's stdout and stderr as
// its stdin, and SVD_RUN, SVD_SEED, SVD_STATUS (as a shell has it: 128 + n for signal n) and
// SVD_TRACE in its environment.
#pragma once

#include <string>

#include "common/options.h"
#include "record/options.h"

namespace svd::cli {

// The exit status of svd-record.
int run_many(const Command& command, const RecordRequest& request, const std::string& executable);

}  // namespace svd::cli
