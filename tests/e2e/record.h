// SPDX-License-Identifier: Apache-2.0
//
// What the end-to-end tests of svd-record share: the real binary, the programs that it records, and
// the traces that come of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/run_command.h"
#include "svd/trace/reader.h"

namespace svd::test {

// "bank 16" as words, the first one as the path of that program of tests/programs.
std::vector<std::string> program(const std::string& command);

// A recorded run. Its traces go with it.
class Recording {
 public:
  // `words` as program() makes them; `options` go to svd-record.
  explicit Recording(const std::vector<std::string>& words,
                     const std::vector<std::string>& options = {},
                     const CommandOptions& command = {});
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  const CommandResult& result() const { return result_; }
  const std::string& path() const { return path_; }
  // All that lies where the trace was to go: with --follow a trace for each process.
  std::vector<std::string> files() const;
  // Throws when it cannot be read; the test then fails.
  const TraceReader& trace();

 private:
  std::string folder_;
  std::string path_;
  CommandResult result_;
  std::unique_ptr<TraceReader> trace_;
};

// "exit 3", "signal 11": how it looks to the shell, so that both ways to pass a signal on are
// alike.
std::string ending(const CommandResult& result);
// The same as the trace tells it.
std::string ending(const TraceReader& trace);

// What svd-analyze verify says of a trace that it does not find sound; empty if it does.
std::string unsound(const std::string& path);

// The diagnostics of a trace and of decoding all of it, one a line, but those that are only info.
std::string complaints(const TraceReader& trace);

}  // namespace svd::test
