// SPDX-License-Identifier: Apache-2.0
//
// What the end-to-end tests of svd-analyze share: the real binary, and traces for it.
#pragma once

#include <string>
#include <vector>

#include "support/run_command.h"

namespace svd::test {

// Runs svd-analyze with these words.
CommandResult analyze(std::vector<std::string> words, const CommandOptions& options = {});

// The example trace, written once per test program: 20,000 instructions in several chunks.
const std::string& example_trace();
// The same, cut off: no index, no end.
const std::string& cut_trace();
// A race of two threads, from text: statements, values, a lock, a fatal signal.
const std::string& race_text();
const std::string& race_trace();

std::size_t count_lines(const std::string& text);

}  // namespace svd::test
