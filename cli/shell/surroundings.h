// SPDX-License-Identifier: Apache-2.0
//
// What stands around a line of the source, and what happened around a moment of the run.
#pragma once

#include "shell/code_places.h"
#include "shell/session.h"

namespace svd::cli {

// Lines of the file, each with how often it was executed.
void list_source(Session& session, const FileLine& line);

// What all threads did before and after `at`, in the order of the run; consecutive instructions of
// one line are one.
Status list_run(Session& session, Seq at);

}  // namespace svd::cli
