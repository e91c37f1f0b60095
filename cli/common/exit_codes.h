// SPDX-License-Identifier: Apache-2.0
//
// What the commands tell their caller, and nothing else does. Scripts rely on these numbers.
#pragma once

namespace svd::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;      // the output could not be written
inline constexpr int kUsage = 2;       // wrong use
inline constexpr int kUnreadable = 3;  // not a readable trace
inline constexpr int kDamaged =
    4;  // done, but the trace is damaged or incomplete; the report says how

}  // namespace svd::cli
