// SPDX-License-Identifier: Apache-2.0
//
// The sentences of findings.
#pragma once

#include <string>

#include "findings/finding.h"

namespace svd {

// "append (log.c:77)", "3.09", "server+0x1a2f".
std::string describe(const CodePlace& place);

// What went wrong, in one sentence without a full stop. The first detector decides which.
std::string summarize(const Finding& finding);

// Of what stays the same from run to run and, as far as functions and lines' texts do, from build
// to build: 16 hexadecimal digits.
std::string fingerprint(const Finding& finding);

}  // namespace svd
