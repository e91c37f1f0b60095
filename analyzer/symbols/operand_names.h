// SPDX-License-Identifier: Apache-2.0
//
// What the source calls the memory that an instruction accesses through a pointer or on the stack:
// "buf->outcnt", "queue->slots[...].owner", "*counter". The pointer's name and type come from the
// variable that DWARF says is in the base register; where there is none, as in code that was not
// optimised, from the instruction before that loaded the register. Never the answer to which
// element of an array it was: the index is not known here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "svd/trace/block.h"
#include "svd/trace/types.h"
#include "symbols/debug_info.h"

namespace svd {

class OperandNames {
 public:
  // The blocks must outlive it.
  explicit OperandNames(std::span<const Block> blocks);
  ~OperandNames();

  // "" when it is not known. `debug` is that of the pc's module, which is loaded at `bias`.
  std::string name_at(Pc pc, DebugInfo& debug, std::uint64_t bias);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace svd
