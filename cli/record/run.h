// SPDX-License-Identifier: Apache-2.0
//
// Runs the program under the recorder and watches over both. The program keeps our input, output,
// process group and terminal; signals that others send to us are sent on to it.
#pragma once

#include <string>
#include <vector>

#include "record/options.h"
#include "svd/collector/collector.h"

namespace svd::cli {

struct RunOutcome {
  int status = 0;  // as of waitpid
  double seconds = 0;
  std::vector<RecordedRun> traces;
  std::vector<std::string> remarks;  // of Valgrind and our tool
};

// `executable`: where the program was found.
Result<RunOutcome> run_recorded(const RecordRequest& request, const std::string& executable);

}  // namespace svd::cli
