// SPDX-License-Identifier: Apache-2.0
//
// What svd-record was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"
#include "record/chaos.h"

namespace svd::cli {

// An edge of the window that is recorded.
struct RecordMoment {
  enum class Kind { kNone, kFunction, kTime, kSignal };
  Kind kind = Kind::kNone;
  std::string what;          // as written; a function's name
  std::uint64_t number = 0;  // milliseconds from the program's start, or the signal
};

struct RecordRequest {
  std::vector<std::string> program;  // and its arguments
  std::string file;                  // "": made from the program's name
  bool values = true;
  bool environment = false;
  bool follow = false;
  bool stats = false;
  std::uint64_t last = 0;      // keep so many bytes, the newest; 0: all
  std::uint64_t max_size = 0;  // 0: no limit
  // A full disk hurts more than this program; what is left then is for others.
  std::uint64_t min_free = 100U << 20;
  double timeout = 0;  // seconds; 0: none
  RecordMoment start_at;
  RecordMoment stop_at;
  std::optional<ChaosRequest> chaos;
  std::optional<std::uint64_t> runs;
  bool until_failure = false;
  std::string check;         // a command line; "": none
  std::string keep_passing;  // a folder; "": traces of passing runs are removed

  bool many() const { return runs || until_failure; }
};

// `file` with the number of the run in place of %n.
std::string numbered(const std::string& file, std::uint64_t run);
// Whether files of several runs have different names.
bool tells_runs_apart(const std::string& file);

// Reads the words of the command line into `request`. An exit code when there is nothing to run.
std::optional<int> read_request(Command& command, const Arguments& arguments,
                                RecordRequest& request);

}  // namespace svd::cli
