// SPDX-License-Identifier: Apache-2.0
//
// What can be meant by the beginning of a line.
#pragma once

#include <string>
#include <vector>

#include "shell/session.h"

namespace svd::cli {

// Whole words in place of the last one of `line`, ascending: commands, and behind them what they
// take.
std::vector<std::string> completions(Session& session, const std::string& line);

}  // namespace svd::cli
