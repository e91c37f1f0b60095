// SPDX-License-Identifier: Apache-2.0
//
// What svd-record was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"

namespace svd::cli {

struct RecordRequest {
  std::vector<std::string> program;  // and its arguments
  std::string file;                  // "": made from the program's name
  bool values = true;
  bool environment = false;
  bool follow = false;
  bool stats = false;
  std::uint64_t max_size = 0;  // 0: no limit
  // A full disk hurts more than this program; what is left then is for others.
  std::uint64_t min_free = 100U << 20;
  double timeout = 0;  // seconds; 0: none
};

// Reads the words of the command line into `request`. An exit code when there is nothing to run.
std::optional<int> read_request(Command& command, const Arguments& arguments,
                                RecordRequest& request);

}  // namespace svd::cli
