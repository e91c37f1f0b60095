// SPDX-License-Identifier: Apache-2.0
//
// Collects InstrEffects: uses of one register in one role, and definitions of one register, become
// one entry each.
#pragma once

#include "decode/effects.h"

namespace svd {

class EffectsBuilder {
 public:
  explicit EffectsBuilder(InstrEffects& effects) : effects_(effects) {}

  InstrEffects& effects() { return effects_; }

  void use(Reg reg, Lanes lanes, UseRole role = UseRole::kValue) {
    if (lanes == 0) return;
    for (RegUse& use : effects_.uses) {
      if (use.reg == reg && use.role == role) {
        use.lanes = static_cast<Lanes>(use.lanes | lanes);
        return;
      }
    }
    effects_.uses.push_back({reg, lanes, role});
  }

  void def(Reg reg, Lanes lanes, bool stack = false) {
    if (lanes == 0) return;
    for (RegDef& def : effects_.defs) {
      if (def.reg == reg) {
        def.lanes = static_cast<Lanes>(def.lanes | lanes);
        def.stack = def.stack && stack;
        return;
      }
    }
    effects_.defs.push_back({reg, lanes, stack});
  }

  // A definition that may not happen: the old value may pass.
  void maybe_def(Reg reg, Lanes lanes) {
    use(reg, lanes);
    def(reg, lanes);
  }

  // Reads stand before writes; each kind in the order of the calls.
  void read_memory(std::uint16_t size) {
    auto at = effects_.memory.begin();
    while (at != effects_.memory.end() && !at->write) ++at;
    effects_.memory.insert(at, {false, size});
  }
  void write_memory(std::uint16_t size) { effects_.memory.push_back({true, size}); }

 private:
  InstrEffects& effects_;
};

inline Reg general_reg(unsigned n) { return static_cast<Reg>(n); }
inline Reg vector_reg(unsigned n) {
  return static_cast<Reg>(static_cast<unsigned>(Reg::kVector) + n);
}
inline Reg mask_reg(unsigned n) { return static_cast<Reg>(static_cast<unsigned>(Reg::kMask) + n); }

}  // namespace svd
