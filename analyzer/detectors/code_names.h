// SPDX-License-Identifier: Apache-2.0
//
// What rules about code need to know of an address: its module, its function, and whether a
// library of the system holds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "svd/trace/types.h"

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
};

}  // namespace svd
