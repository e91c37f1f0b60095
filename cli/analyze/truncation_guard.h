// SPDX-License-Identifier: Apache-2.0
//
// A trace is read through a mapping. When someone truncates the file meanwhile, the kernel answers
// a read with SIGBUS: then this guard says so in one sentence and ends the process with
// kUnreadable.
#pragma once

#include <string>

namespace svd::cli {

// From now on; `path` is the file that the sentence names.
void guard_against_truncation(const std::string& path);

}  // namespace svd::cli
