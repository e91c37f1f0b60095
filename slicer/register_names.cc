// SPDX-License-Identifier: Apache-2.0
#include "slicer/register_names.h"

#include <algorithm>

namespace svd {

std::string register_name(Reg reg) {
  auto number = [reg](Reg first) {
    return std::to_string(static_cast<unsigned>(reg) - static_cast<unsigned>(first));
  };
  if (reg <= Reg::kR15) return std::string(kGeneralNames[static_cast<std::size_t>(reg)]);
  if (reg >= Reg::kMask) return "k" + number(Reg::kMask);
  if (reg >= Reg::kVector) return "ymm" + number(Reg::kVector);
  switch (reg) {
    case Reg::kFlags:
      return "flags";
    case Reg::kX87:
      return "x87";
    case Reg::kMxcsr:
      return "mxcsr";
    case Reg::kFs:
      return "fs";
    default:
      return "gs";
  }
}

std::optional<Reg> register_of(std::string_view name) {
  auto found = std::find(kGeneralNames.begin(), kGeneralNames.end(), name);
  if (found == kGeneralNames.end()) return std::nullopt;
  return static_cast<Reg>(found - kGeneralNames.begin());
}

}  // namespace svd
