// SPDX-License-Identifier: Apache-2.0
//
// Where the things are that svd-record needs: the program to record, Valgrind, and our tool.
#pragma once

#include <string>

namespace svd::cli {

struct Found {
  std::string path;  // "": it is not there
  std::string problem;
  int exit_code = 0;
};

// A program as a shell finds it. Of one that cannot be run or recorded: the exit code and why.
Found find_program(const std::string& word);

// Valgrind's launcher; "" when there is none.
std::string find_valgrind();

// The directory with our tool and the files of Valgrind that it needs.
std::string tool_directory();
// Why no trace can be written to `file` (as given to -o); "" when one can.
std::string output_problem(const std::string& file);

// The sentence that says what is missing there; "" when all is there.
std::string tool_problem();

}  // namespace svd::cli
