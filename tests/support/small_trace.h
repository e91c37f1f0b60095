// SPDX-License-Identifier: Apache-2.0
//
// A trace of a few kilobytes that has every kind of chunk, column and event: what damage tests and
// fuzzers start from.
#pragma once

#include <string>

namespace svd::test {

// Writes it, in several chunks; `finished` false leaves out the index.
void write_small_trace(const std::string& path, bool finished = true);

// A fresh path in the temporary folder.
std::string temp_path(const std::string& name);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace svd::test
