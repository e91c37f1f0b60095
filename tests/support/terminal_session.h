// SPDX-License-Identifier: Apache-2.0
//
// A program at a terminal of its own, at which a test types: keys as they come, Ctrl-C and all.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace svd::test {

class TerminalSession {
 public:
  // `environment` on top of ours.
  TerminalSession(const std::vector<std::string>& words,
                  const std::vector<std::pair<std::string, std::string>>& environment);
  ~TerminalSession();
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

  void type(const std::string& keys);
  // What was shown since the last call, up to and with `text`; all there is when it does not come.
  std::string until(const std::string& text);
  // The same of a prompt, when keys are taken one by one: editors show it a little before.
  std::string until_prompt(const std::string& prompt);
  // The exit status after the end of the program; -1 when it does not end by itself.
  int finish();

 private:
  static constexpr std::chrono::seconds kPatience{60};
  bool read_more(std::chrono::steady_clock::time_point deadline);

  pid_t child_ = -1;
  int terminal_ = -1;
  std::string shown_;
};

}  // namespace svd::test
