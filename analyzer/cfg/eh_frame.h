// SPDX-License-Identifier: Apache-2.0
//
// The extents of functions, and of pieces of functions, that unwinding information tells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cfg/machine_code.h"

namespace svd {

struct AddressRange {
  Address begin = 0;
  Address end = 0;
};

// The ranges of the frame descriptions in the section .eh_frame, which is loaded at `address`. What
// is damaged, or encoded as no compiler does for x86-64, ends the list or is left out.
std::vector<AddressRange> eh_frame_ranges(std::span<const std::uint8_t> section, Address address);

}  // namespace svd
