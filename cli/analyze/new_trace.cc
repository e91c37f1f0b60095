// SPDX-License-Identifier: Apache-2.0
//
// Refusal, creation and removal of the file that a verb writes.

#include "analyze/new_trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/output.h"

namespace svd::cli {

NewTrace::~NewTrace() {
  struct stat status {};
  // Only what the writer made: a device stays.
  if (created_ && lstat(path_.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    unlink(path_.c_str());
}

Result<std::unique_ptr<TraceWriter>> NewTrace::create(const Process& process) {
  if (same_file(path_, input_)) {
    Error error;
    error.kind = ErrorKind::kUsage;
    error.file = path_;
    error.what = "this is the input; choose another file for the output";
    return error;
  }
  auto writer = TraceWriter::create(path_, process);
  created_ = static_cast<bool>(writer);
  return writer;
}

}  // namespace svd::cli
