// SPDX-License-Identifier: Apache-2.0
//
// Names of the system calls of x86-64 Linux, taken from the kernel's headers when this is built.
#pragma once

#include <cstdint>
#include <string>

namespace svd::cli {

// "write", or "#1234" for one that the headers did not know.
std::string syscall_name(std::uint32_t number);

}  // namespace svd::cli
