// SPDX-License-Identifier: Apache-2.0
//
// A bound for what a trace can make of memory. A hostile one can name more of it in a few bytes
// than any machine has, and the kernel ends whom it likes when all is gone.
#pragma once

namespace svd::cli {

// From here on, more than what the machine has left fails as std::bad_alloc.
void bound_memory();

}  // namespace svd::cli
