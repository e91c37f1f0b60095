// SPDX-License-Identifier: Apache-2.0
//
// svd-record doctor: line by line what works on this machine, and the command that mends what does
// not.
#pragma once

#include "common/options.h"

namespace svd::cli {

int run_doctor(const Arguments& arguments);

}  // namespace svd::cli
