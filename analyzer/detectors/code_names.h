// SPDX-License-Identifier: Apache-2.0
//
// What rules need to know of an address: of code its module, its function, and whether a library of
// the system holds it; of memory how the source calls it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/types.h"
#include "symbols/source_map.h"

namespace svd {

struct CodeName {
  std::string module;
  std::string function;  // of symbols, not inlined; "" where it is not known
  bool system = false;
};

class CodeNames {
 public:
  virtual ~CodeNames() = default;
  virtual CodeName code(Pc pc) = 0;
  // The functions that the instruction is in, inlined ones included; views live as long as this.
  virtual std::vector<std::string_view> functions(Pc pc) = 0;
  // The program's variables of static storage; which of them, or what part of one, memory is; and
  // what an instruction accesses that has no such name. "" where it is not known.
  virtual std::vector<Variable> variables() = 0;
  virtual std::string variable(Addr address, std::uint64_t size) = 0;
  virtual std::string operand(Pc pc) = 0;
};

}  // namespace svd
