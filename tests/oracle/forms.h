// SPDX-License-Identifier: Apache-2.0
//
// The distinct forms of instructions in ELF files: machine code with displacements, and those
// immediates that are only numbers, taken for equal.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace svd::test {

using Code = std::vector<std::uint8_t>;

// The first instance of each form, in the order of the keys.
using Forms = std::map<Code, Code>;

struct ZydisInstruction {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(instruction.operand_count);
  }
  const char* mnemonic() const { return ZydisMnemonicGetString(instruction.mnemonic); }
};

// It has a vector register as operand.
bool is_vector(const ZydisInstruction& instruction);

class ZydisFrontEnd {
 public:
  ZydisFrontEnd();
  bool decode(std::span<const std::uint8_t> code, ZydisInstruction& out) const;
  std::string text(const ZydisInstruction& instruction) const;

 private:
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
};

// Adds the forms in the executable sections of a file, from one end to the other. False: no ELF
// file of this architecture.
bool collect_forms(const std::string& path, Forms& forms);

}  // namespace svd::test
