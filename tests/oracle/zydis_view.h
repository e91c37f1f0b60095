// SPDX-License-Identifier: Apache-2.0
//
// What Zydis says of an instruction, and where the decoder says something else: registers read and
// written (whole ones: Zydis knows no lanes), flags, memory operands, control flow.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "oracle/forms.h"

namespace svd::test {

enum class Topic : std::uint8_t {
  kRead,
  kWritten,
  kFlagRead,
  kFlagWritten,
  kMemory,
  kFlow,
  kLength,
};

// One thing about which they differ.
struct Disagreement {
  Topic topic{};
  bool ours = false;  // the decoder claims it and Zydis does not; else the other way round
  Reg reg{};          // kRead, kWritten
  Lanes flags = 0;    // kFlagRead, kFlagWritten
  std::string text{};
};

std::vector<Disagreement> compare(const InstrEffects& effects, const ZydisInstruction& zydis);

// The register of ours that holds it; kCount: none is tracked.
Reg reg_of(ZydisRegister reg);

}  // namespace svd::test
