// SPDX-License-Identifier: Apache-2.0
//
// Whether two traces say the same: tables, executions, parts, accesses, values and events, in
// order. Where chunks begin, and what is stored of accesses that did not happen, does not count.
#pragma once

#include <string>

#include "svd/trace/reader.h"

namespace svd::test {

// The first difference, in words; empty if there is none.
std::string trace_difference(const TraceReader& a, const TraceReader& b);

}  // namespace svd::test
