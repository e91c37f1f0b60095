// SPDX-License-Identifier: Apache-2.0
//
// How an instruction is set up to be tried: its code with displacements changed so that every
// memory operand lies in a window, and the registers that must hold addresses for that.
#pragma once

#include <optional>
#include <string>

#include "oracle/forms.h"
#include "oracle/machine.h"

namespace svd::test {

struct Experiment {
  std::string left_out{};  // why it is not tried; empty: it is
  Code code{};
  std::array<std::optional<std::uint64_t>, 16> addresses{};  // of general registers
  // An address of two registers: any index goes with some base.
  struct Scaled {
    unsigned base, index, scale;
  };
  std::optional<Scaled> scaled{};
  std::optional<unsigned> vector_index{};  // the register whose elements are added to an address
  unsigned vector_index_bytes = 4;         // of each element
  bool segment = false;                    // an operand is relative to gs
  // An immediate that is a number: where, and its value. None for vector instructions, whose
  // immediates select lanes.
  std::size_t immediate_offset = 0, immediate_bytes = 0;
  std::uint64_t immediate = 0;
  bool roams = false;  // what is read as a value chooses the place of an operand
  bool steps = false;  // moves an address register by the operand's size
  bool divides = false, repeats = false, pops_flags = false, loads_mxcsr = false;
};

// `code` is one instruction. An operand relative to fs becomes one relative to gs: the harness
// itself needs fs.
Experiment prepare(const ZydisFrontEnd& front, Code code, const Machine& machine);

}  // namespace svd::test
