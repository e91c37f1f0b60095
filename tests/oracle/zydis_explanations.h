// SPDX-License-Identifier: Apache-2.0
//
// Why the decoder says something else than Zydis. docs/decode.md says the same in prose.
#pragma once

#include "oracle/zydis_view.h"

namespace svd::test {

struct Case {
  const InstrEffects& effects;
  const ZydisInstruction& zydis;
  const Disagreement& disagreement;
};

// The name of the rule; nullptr: nothing explains it.
const char* explain(const Case& c);

}  // namespace svd::test
