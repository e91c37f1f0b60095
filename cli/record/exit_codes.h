// SPDX-License-Identifier: Apache-2.0
//
// What svd-record tells when it is not the program's own status. Conventions of env and timeout.
#pragma once

namespace svd::cli {

inline constexpr int kRecorderFailed = 125;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

}  // namespace svd::cli
