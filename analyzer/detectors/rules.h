// SPDX-License-Identifier: Apache-2.0
//
// What the user, and we, say about a program that its trace does not: what is to be left out, and
// what synchronises.
#pragma once

#include "detectors/annotations.h"
#include "detectors/suppressions.h"

namespace svd {

struct Rules {
  Suppressions suppressions{};
  Annotations annotations{};

  static Rules built_in() { return {Suppressions::built_in(), Annotations::built_in()}; }
};

}  // namespace svd
