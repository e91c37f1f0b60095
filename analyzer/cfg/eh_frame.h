// SPDX-License-Identifier: Apache-2.0
//
// What unwinding information tells of functions: the extents of their pieces, and the landing pads
// at which exceptions come in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cfg/machine_code.h"

namespace svd {

struct CodeRange {
  Address begin = 0;
  Address end = 0;
};

struct FrameDescription {
  CodeRange range{};
  Address handlers = 0;  // its table in .gcc_except_table; 0: none
};

// The frame descriptions in the section .eh_frame, which is loaded at `address`. What is damaged,
// or encoded as no compiler does for x86-64, ends the list or is left out.
std::vector<FrameDescription> frame_descriptions(std::span<const std::uint8_t> section,
                                                 Address address);

// The landing pads in the table of handlers at the front of `table`, which is loaded at `address`,
// for the code that begins at `code`; without those behind damage.
std::vector<Address> landing_pads(std::span<const std::uint8_t> table, Address address,
                                  Address code);

}  // namespace svd
