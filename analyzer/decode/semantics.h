// SPDX-License-Identifier: Apache-2.0
//
// The corrections table: what each instruction does with its operands and the flags, by mnemonic.
// Capstone 4 is trusted with the operands themselves, hardly ever with how they are accessed.
//
// The rows name legacy mnemonics; the VEX form of one ("v" before it) takes the same row and is
// told apart by the shape of its operands. A row may be for several mnemonics.
#pragma once

#include <capstone/capstone.h>

#include <array>
#include <initializer_list>
#include <string_view>

#include "decode/effects.h"
#include "decode/registers.h"

namespace svd {

// How explicit operands are accessed.
enum class Access : std::uint8_t {
  kNothing,   // not even the registers of an address: nop, prefetch
  kRead,      // all read
  kWrite,     // the first written, the others read
  kUpdate,    // the first read and written, the others read
  kExchange,  // the first two read and written
};

// What is not told by the operands alone.
enum class Special : std::uint8_t {
  kNone,
  kMove,  // the value passes unchanged if nothing else is merged
  kLea,
  kTouch,  // has an address, and neither reads nor writes there
  kPush,
  kPop,
  kPushFlags,
  kPopFlags,
  kLeave,
  kJump,
  kBranch,
  kCountedBranch,  // loop*, j*cxz
  kCall,
  kReturn,
  kConditionalMove,
  kString,
  kShift,          // by a count that may be 0
  kShiftFree,      // by the low byte of a register, and flags are no concern (BMI)
  kBitTest,        // a bit offset in a register moves the address
  kBitScan,        // leaves the destination alone when the source is 0
  kMultiplyApart,  // mulx: two destinations
  kTranslate,      // xlatb
  kEnter,
  kMultiply,  // one operand: rax and rdx
  kDivide,
  kCompareExchange,
  kMoveScalar,   // movss, movsd: the upper lanes are cleared by a load only
  kAddSubtract,  // a constant on rsp is a stack update
  kSubtractBorrow,
  kZeroing,      // no input when both sources are the same register
  kVectorShift,  // by a register, of which the lower half counts, or a constant
  kMaskedMove,   // lanes, and memory, chosen by a mask
  kGather,
  kSystemCall,
  kTrap,
  kState,        // xsave and relatives
  kVectorClear,  // vzeroupper, vzeroall
  kX87,
};

// Lanes of vector operands where they are not the whole register.
struct VectorRow {
  std::string_view names;
  Lanes def;          // of the destination
  Lanes keep;         // read from the destination, if it is read
  Lanes source;       // read from the last register source
  Lanes wide_source;  // the same when the destination is a ymm
  Lanes vex_first;    // read from the first source of a VEX form with two sources
};

// Registers that the instruction touches without naming them.
struct ImplicitRow {
  std::string_view names;
  std::initializer_list<RegPart> uses;
  std::initializer_list<RegPart> defs;
};

struct Semantics {
  bool listed = false;
  bool vex = false;  // the mnemonic has the "v" and takes a row without
  Access access = Access::kUpdate;
  Special special = Special::kNone;
  Lanes flags_read = 0;
  Lanes flags_written = 0;
  bool rounds = false;      // as mxcsr says; or takes denormals for zero
  std::uint8_t memory = 0;  // bytes of the memory operand, where Capstone is wrong
  const VectorRow* lanes = nullptr;
  const ImplicitRow* implicit = nullptr;
};

using SemanticsTable = std::array<Semantics, X86_INS_ENDING>;

// Indexed by Capstone's instruction id. Made once.
const SemanticsTable& semantics_table(csh handle);

}  // namespace svd
