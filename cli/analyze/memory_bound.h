// SPDX-License-Identifier: Apache-2.0
//
// A bound for what a trace can make of memory. A hostile one can name more of it in a few bytes
// than any machine has, and the kernel ends whom it likes when all is gone.
#pragma once

#include <exception>

namespace svd::cli {

// From here on, more than what the machine has left fails: as lacks_memory() knows, or with a
// message of the library that reads debug information.
void bound_memory();

// Whether memory is what was missing, be it for a thread.
bool lacks_memory(const std::exception& failure);

}  // namespace svd::cli
