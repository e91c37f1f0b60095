// SPDX-License-Identifier: Apache-2.0
//
// Lines that a person types, with editing, history and completion (libedit), or those of a script,
// as they are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace svd::cli {

// What the word before the cursor may become: all that begins with it.
using Complete = std::function<std::vector<std::string>(const std::string& line)>;

class LineReader {
 public:
  virtual ~LineReader() = default;
  // Nothing at the end. The prompt is for people.
  virtual std::optional<std::string> next(const std::string& prompt) = 0;

  // By a person when stdin and stdout are terminals.
  static std::unique_ptr<LineReader> open(Complete complete);
};

bool talks_to_a_person();

// Where commands are kept: in $XDG_STATE_HOME or ~/.local/state; "" where that cannot be.
std::string history_file();

}  // namespace svd::cli
