// SPDX-License-Identifier: Apache-2.0
//
// What one static instruction does: which parts of which registers it reads, for what, and which
// it writes; how it reads and writes memory; where control can go after it. It is what everything
// above (control flow, dependences, units, slices) knows about machine code.
//
// Conventions, which the hardware oracle of tests/ holds the decoder to:
// - A register is cut into lanes that are written together: a general register into byte 0, byte 1
//   and the rest; a vector register into four 4-byte lanes and the upper half of ymm; the flags
//   into one lane each. What has no parts has lane 0 only.
// - A 32-bit write defines all lanes. An 8- or 16-bit write defines its own. A legacy SSE write
//   leaves the upper half alone, a VEX write defines it.
// - A definition that may not happen (cmov, a shift by a cl that may be 0, bsf of 0, cmpxchg's
//   accumulator) also uses the old value, so that no chain of definitions breaks.
// - A zeroing idiom (xor r,r; sub r,r; pxor x,x; …) uses nothing.
// - Memory operands stand in the order of the accesses as the hardware makes them, reads first; an
//   instruction that reads and writes one place has two. The implicit ones of push, pop, call, ret,
//   leave and the string instructions are among them.
#pragma once

#include <cstdint>
#include <vector>

#include "svd/trace/types.h"

namespace svd {

// Registers; vector registers and mask registers are kVector + n, kMask + n.
enum class Reg : std::uint8_t {
  kRax,  // as the hardware numbers them
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR15 = kR8 + 7,
  kFlags,
  kX87,  // stack, status, control and MMX as one
  kMxcsr,
  kFs,  // the segment bases
  kGs,
  kVector,
  kMask = kVector + 32,
  kCount = kMask + 8,
};
inline constexpr std::size_t kRegCount = static_cast<std::size_t>(Reg::kCount);

// A set of lanes of one register.
using Lanes = std::uint8_t;
inline constexpr Lanes kByte0 = 1, kByte1 = 2, kRest = 4;  // general registers
inline constexpr Lanes kWord = kByte0 | kByte1, kGeneral = kByte0 | kByte1 | kRest;
inline constexpr Lanes kXmm = 0x0f, kYmmUpper = 0x10, kYmm = 0x1f;  // vector registers
inline constexpr Lanes kCf = 1, kPf = 2, kAf = 4, kZf = 8, kSf = 16, kDf = 32, kOf = 64;
inline constexpr Lanes kWhole = 1;  // registers without parts

// What a value that is read is for.
enum class UseRole : std::uint8_t {
  kValue,
  kAddress,    // to form the address of a memory operand
  kCondition,  // to decide: flags, the counter of loop and jrcxz, the selector of cmov
  kStack,      // the stack pointer as such: its update, and addresses formed from it alone
};

struct RegUse {
  Reg reg{};
  Lanes lanes = 0;
  UseRole role = UseRole::kValue;
  friend bool operator==(const RegUse&, const RegUse&) = default;
};

struct RegDef {
  Reg reg{};
  Lanes lanes = 0;
  bool stack = false;  // the stack pointer's own update by push, pop, call, ret, leave, enter, or
                       // by add/sub/lea/and of a constant: follows from no data
  friend bool operator==(const RegDef&, const RegDef&) = default;
};

struct MemoryOperand {
  bool write = false;
  std::uint16_t size = 0;  // bytes; 0: a range (rep) or one that only the run tells (xsave)
  friend bool operator==(const MemoryOperand&, const MemoryOperand&) = default;
};

// Where control goes.
enum class Flow : std::uint8_t {
  kNext,
  kJump,    // direct, always
  kBranch,  // direct or next
  kIndirectJump,
  kCall,
  kIndirectCall,
  kReturn,
  kSystemCall,  // and next
  kTrap,        // ud2, hlt, int3, int: control does not pass by itself
};

struct InstrEffects {
  std::vector<RegUse> uses{};
  std::vector<RegDef> defs{};
  std::vector<MemoryOperand> memory{};
  Flow flow = Flow::kNext;
  Pc target{};  // of a direct jump, branch or call
  std::uint8_t length = 0;
  // The value goes unchanged from the one source to the one destination: mov, movaps, push r,
  // pop r. Widening moves are not copies.
  bool copy = false;
  bool atomic = false;    // lock prefix, or xchg with memory
  bool repeated = false;  // a string instruction with a rep prefix
  bool known = true;      // false: the bytes could not be decoded, and nothing is claimed

  friend bool operator==(const InstrEffects&, const InstrEffects&) = default;
};

}  // namespace svd
