// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as a shell would and collects what it says. A program that does not end within its
// time is killed, and the test fails: hanging is a bug too.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace svd::test {

struct CommandResult {
  int exit_code = -1;  // -1: it did not end by itself
  int signal = 0;      // what killed it
  std::string out;
  std::string err;
};

struct CommandOptions {
  std::string input;                                             // for stdin
  std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
  std::string stdout_path;                                       // in place of collecting `out`
  bool terminal = false;  // stdout and stderr are a terminal; both go to `out`
  std::chrono::seconds patience{60};
};

CommandResult run_command(const std::vector<std::string>& words,
                          const CommandOptions& options = {});

}  // namespace svd::test
