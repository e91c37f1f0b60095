// SPDX-License-Identifier: Apache-2.0
//
// The decoder held against what the hardware does.
#pragma once

#include <string>
#include <vector>

#include "decode/decoder.h"
#include "oracle/observer.h"

namespace svd::test {

enum class Claim : std::uint8_t { kMissingRead, kMissingWrite, kExtraRead, kExtraWrite };

// One lane or memory operand about which decoder and hardware differ.
struct Difference {
  Claim claim{};
  Reg reg{};  // kCount: memory
  Lanes lanes = 0;
  std::string memory{};  // for memory: what is claimed and what was seen
};

struct HardwareResult {
  std::string left_out{};
  ZydisInstruction instruction{};  // as tried
  InstrEffects effects{};
  std::vector<Difference> differences{};
  std::uint64_t runs = 0;
};

std::string describe(const Difference& difference);

// Where what is claimed and what was seen differ.
std::vector<Difference> compare(const InstrEffects& effects, const Observation& seen);

class HardwareOracle {
 public:
  HardwareResult check(const Code& code);
  const ZydisFrontEnd& front() const { return front_; }

 private:
  ZydisFrontEnd front_;
  Decoder decoder_;
  Machine machine_;
};

}  // namespace svd::test
