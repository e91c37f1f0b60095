// SPDX-License-Identifier: Apache-2.0
//
// Why the decoder may claim what the hardware does not show. docs/decode.md says the same in
// prose. Nothing explains a read or write that the decoder misses.
#pragma once

#include <span>

#include "oracle/hardware.h"

namespace svd::test {

struct Explanation {
  const char* name;
  const char* reason;
  bool (*covers)(const HardwareResult&, const Difference&);
};

std::span<const Explanation> explanations();

// nullptr: nothing explains it.
const Explanation* explain(const HardwareResult& result, const Difference& difference);

}  // namespace svd::test
