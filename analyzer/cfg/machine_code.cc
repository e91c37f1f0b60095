// SPDX-License-Identifier: Apache-2.0

#include "cfg/machine_code.h"

#include <array>
#include <cstring>

#include "decode/effects.h"

namespace svd {

namespace {

// What follows an opcode.
enum Form : std::uint8_t {
  kPlain = 0,
  kModrm = 1,
  kImm8 = 2,
  kImmZ = 4,  // 4 bytes, 2 with the operand size prefix
  kImm16 = 8,
  kRel8 = 16,
  kRel32 = 32,
  kInvalid = 64,
};

using Table = std::array<std::uint8_t, 256>;

constexpr void fill(Table& table, unsigned first, unsigned last, unsigned form) {
  for (unsigned i = first; i <= last; ++i) table[i] = static_cast<std::uint8_t>(form);
}

constexpr Table one_byte_forms() {
  Table t{};
  for (unsigned row = 0; row < 0x40; row += 8) {  // add, or, adc, sbb, and, sub, xor, cmp
    fill(t, row, row + 3, kModrm);
    t[row + 4] = kImm8, t[row + 5] = kImmZ;
    t[row + 6] = t[row + 7] = kInvalid;
  }
  t[0x60] = t[0x61] = t[0x62] = kInvalid;
  t[0x63] = kModrm;
  t[0x68] = kImmZ, t[0x69] = kModrm | kImmZ, t[0x6a] = kImm8, t[0x6b] = kModrm | kImm8;
  fill(t, 0x70, 0x7f, kRel8);
  t[0x80] = t[0x83] = kModrm | kImm8, t[0x81] = kModrm | kImmZ, t[0x82] = kInvalid;
  fill(t, 0x84, 0x8f, kModrm);
  t[0x9a] = kInvalid;
  t[0xa8] = kImm8, t[0xa9] = kImmZ;
  fill(t, 0xb0, 0xb7, kImm8);
  fill(t, 0xb8, 0xbf, kImmZ);
  t[0xc0] = t[0xc1] = t[0xc6] = kModrm | kImm8, t[0xc7] = kModrm | kImmZ;
  t[0xc2] = t[0xca] = kImm16, t[0xc8] = kImm16 | kImm8;
  t[0xcd] = kImm8, t[0xce] = kInvalid;
  fill(t, 0xd0, 0xd3, kModrm);
  fill(t, 0xd4, 0xd6, kInvalid);
  fill(t, 0xd8, 0xdf, kModrm);
  fill(t, 0xe0, 0xe3, kRel8);
  fill(t, 0xe4, 0xe7, kImm8);
  t[0xe8] = t[0xe9] = kRel32, t[0xea] = kInvalid, t[0xeb] = kRel8;
  t[0xf6] = t[0xf7] = t[0xfe] = t[0xff] = kModrm;
  return t;
}

constexpr Table two_byte_forms() {
  Table t{};
  fill(t, 0x00, 0xff, kModrm);
  fill(t, 0x05, 0x09, kPlain);
  t[0x04] = t[0x0a] = t[0x0c] = kInvalid;
  t[0x0b] = t[0x0e] = kPlain, t[0x0f] = kModrm | kImm8;
  fill(t, 0x24, 0x27, kInvalid);
  fill(t, 0x30, 0x37, kPlain);
  t[0x36] = t[0x39] = kInvalid;
  fill(t, 0x3b, 0x3f, kInvalid);
  fill(t, 0x70, 0x73, kModrm | kImm8);
  t[0x77] = kPlain, t[0x7a] = t[0x7b] = kInvalid;
  fill(t, 0x80, 0x8f, kRel32);
  fill(t, 0xa0, 0xa2, kPlain);
  fill(t, 0xa8, 0xaa, kPlain);
  t[0xa4] = t[0xac] = t[0xba] = kModrm | kImm8;
  t[0xa6] = t[0xa7] = kInvalid;
  t[0xc2] = t[0xc4] = t[0xc5] = t[0xc6] = kModrm | kImm8;
  fill(t, 0xc8, 0xcf, kPlain);
  return t;
}

constexpr Table kOneByteForms = one_byte_forms();
constexpr Table kTwoByteForms = two_byte_forms();
constexpr std::size_t kMaxLength = 15;

class StepDecoder {
 public:
  StepDecoder(std::span<const std::uint8_t> code, Address pc)
      : code_(code.first(std::min(code.size(), kMaxLength))), pc_(pc) {}

  CodeStep decode() {
    prefixes();
    std::uint8_t form = opcode();
    if (form & kInvalid) return {};
    step_.rm = static_cast<std::uint8_t>((step_.code & 7) | (rex_ & 1) << 3);
    if (form & kModrm) modrm();
    operands(form);
    if (!ok_) return {};
    step_.length = static_cast<std::uint8_t>(at_);
    if (step_.base == CodeStep::kRip) step_.displacement += pc_ + at_;
    if (form & (kRel8 | kRel32))
      step_.target = pc_ + at_ + static_cast<std::uint64_t>(step_.immediate);
    classify();
    return step_;
  }

 private:
  std::uint8_t byte() {
    if (at_ < code_.size()) return code_[at_++];
    ok_ = false;
    return 0;
  }

  template <class T>
  std::int64_t number() {
    T value{};
    if (at_ + sizeof value <= code_.size()) {
      std::memcpy(&value, code_.data() + at_, sizeof value);
      at_ += sizeof value;
    } else {
      ok_ = false;
    }
    return value;
  }

  void prefixes() {
    for (; at_ < code_.size(); ++at_) {
      switch (code_[at_]) {
        case 0x66:
          step_.narrow = true;
          break;
        case 0x67:
          short_address_ = true;
          break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
        case 0xf2:
        case 0xf3:
          break;
        default:
          if ((code_[at_] & 0xf0) != 0x40) return;
          rex_ = code_[at_++];
          // A REX that something else than the opcode follows does not count.
          if (at_ < code_.size() && !is_prefix(code_[at_])) {
            step_.wide = (rex_ & 8) != 0;
            if (step_.wide) step_.narrow = false;
            return;
          }
          rex_ = 0;
          --at_;
      }
    }
  }

  static bool is_prefix(std::uint8_t b) {
    return (b & 0xf0) == 0x40 || (b & 0xe7) == 0x26 || (b >= 0x64 && b <= 0x67) || b == 0xf0 ||
           b == 0xf2 || b == 0xf3;
  }

  std::uint8_t opcode() {
    step_.code = byte();
    switch (step_.code) {
      case 0x0f:
        return two_byte();
      case 0xc5:
        return vex(byte(), 1);
      case 0xc4: {
        std::uint8_t first = byte();
        return byte(), vex(first, first & 0x1f);
      }
      case 0x62: {
        std::uint8_t first = byte();
        byte(), byte();
        return vex(first, first & 7, true);
      }
      case 0x8f:
        if (at_ < code_.size() && (code_[at_] & 0x1f) >= 8) return xop();
        break;
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
        short_address_ ? number<std::int32_t>() : number<std::int64_t>();
        return kPlain;
      default:
        break;
    }
    return kOneByteForms[step_.code];
  }

  std::uint8_t two_byte() {
    step_.map = OpcodeMap::k0f;
    step_.code = byte();
    if (step_.code != 0x38 && step_.code != 0x3a) return kTwoByteForms[step_.code];
    bool immediate = step_.code == 0x3a;
    step_.map = immediate ? OpcodeMap::k0f3a : OpcodeMap::k0f38;
    step_.code = byte();
    return immediate ? kModrm | kImm8 : kModrm;
  }

  // REX's bits R, X and B stand inverted at the top of the first byte.
  std::uint8_t vex(std::uint8_t first, unsigned map, bool evex = false) {
    rex_ = static_cast<std::uint8_t>(~first >> 5 & 7);
    step_.map = OpcodeMap::kVector;
    step_.code = byte();
    if (map == 1) {
      std::uint8_t form = kTwoByteForms[step_.code];
      if (form & (kRel32 | kInvalid)) return kInvalid;
      return !evex && step_.code == 0x77 ? kPlain : form | kModrm;
    }
    if (map == 3) return kModrm | kImm8;
    return map == 2 || map == 5 || map == 6 ? kModrm : kInvalid;
  }

  std::uint8_t xop() {
    std::uint8_t first = byte();
    rex_ = static_cast<std::uint8_t>(~first >> 5 & 7);
    byte();
    step_.map = OpcodeMap::kVector;
    step_.code = byte();
    step_.narrow = false;
    unsigned map = first & 0x1f;
    if (map == 8) return kModrm | kImm8;
    return map == 9 ? kModrm : map == 10 ? kModrm | kImmZ : kInvalid;
  }

  void modrm() {
    std::uint8_t byte0 = byte();
    unsigned mode = byte0 >> 6;
    unsigned rm = byte0 & 7U;
    step_.has_modrm = true;
    step_.reg = static_cast<std::uint8_t>((byte0 >> 3 & 7) | (rex_ & 4) << 1);
    if (mode == 3) {
      step_.rm = static_cast<std::uint8_t>(rm | (rex_ & 1U) << 3);
      return;
    }
    step_.memory = true;
    bool wide_displacement = mode == 2;
    if (rm == 4) {
      std::uint8_t sib = byte();
      auto index = static_cast<std::uint8_t>((sib >> 3 & 7) | (rex_ & 2) << 2);
      if (index != 4) step_.index = index, step_.scale = static_cast<std::uint8_t>(1 << (sib >> 6));
      if (mode == 0 && (sib & 7) == 5) {
        wide_displacement = true;
      } else {
        step_.base = static_cast<std::uint8_t>((sib & 7) | (rex_ & 1) << 3);
      }
    } else if (mode == 0 && rm == 5) {
      step_.base = CodeStep::kRip;
      wide_displacement = true;
    } else {
      step_.base = static_cast<std::uint8_t>(rm | (rex_ & 1U) << 3);
    }
    std::int64_t displacement = 0;
    if (wide_displacement) displacement = number<std::int32_t>();
    if (mode == 1) displacement = number<std::int8_t>();
    step_.displacement = static_cast<std::uint64_t>(displacement);
  }

  void operands(unsigned form) {
    bool one_byte = step_.map == OpcodeMap::kOneByte;
    // test r/m, imm among not, neg, mul, div.
    if (one_byte && step_.code == 0xf6 && step_.extension() < 2) form |= kImm8;
    if (one_byte && step_.code == 0xf7 && step_.extension() < 2) form |= kImmZ;
    if (one_byte && step_.code >= 0xb8 && step_.code <= 0xbf && step_.wide) {
      step_.immediate = number<std::int64_t>();
      return;
    }
    if (form & kImm16) step_.immediate = number<std::int16_t>();
    if (form & kImmZ)
      step_.immediate = step_.narrow ? number<std::int16_t>() : number<std::int32_t>();
    if (form & kRel32) step_.immediate = number<std::int32_t>();
    if (form & (kImm8 | kRel8)) step_.immediate = number<std::int8_t>();
  }

  void classify() {
    if (step_.map == OpcodeMap::k0f) return classify_two_byte();
    if (step_.map != OpcodeMap::kOneByte) return;
    std::uint8_t code = step_.code;
    if ((code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0) step_.flow = Flow::kBranch;
    switch (code) {
      case 0xe8:
        step_.flow = Flow::kCall;
        break;
      case 0xe9:
      case 0xeb:
        step_.flow = Flow::kJump;
        break;
      case 0xc2:
      case 0xc3:
      case 0xca:
      case 0xcb:
      case 0xcf:
        step_.flow = Flow::kReturn;
        break;
      case 0xcc:
      case 0xf1:
      case 0xf4:
        step_.flow = Flow::kTrap;
        break;
      case 0xcd:
        step_.flow = Flow::kSystemCall;
        break;
      case 0xff:
        if (step_.extension() == 2 || step_.extension() == 3) step_.flow = Flow::kIndirectCall;
        if (step_.extension() == 4 || step_.extension() == 5) step_.flow = Flow::kIndirectJump;
        break;
      case 0xc7:  // xbegin
        if (step_.memory || step_.extension() != 7) break;
        step_.flow = Flow::kBranch;
        step_.target = pc_ + at_ + static_cast<std::uint64_t>(step_.immediate);
        break;
      default:
        break;
    }
  }

  void classify_two_byte() {
    std::uint8_t code = step_.code;
    if ((code & 0xf0) == 0x80) step_.flow = Flow::kBranch;
    if (code == 0x05 || code == 0x34) step_.flow = Flow::kSystemCall;
    if (code == 0x0b || code == 0xb9 || code == 0xff) step_.flow = Flow::kTrap;
  }

  std::span<const std::uint8_t> code_;
  Address pc_;
  std::size_t at_ = 0;
  std::uint8_t rex_ = 0;
  bool short_address_ = false;
  bool ok_ = true;
  CodeStep step_;
};

}  // namespace

CodeStep decode_code(std::span<const std::uint8_t> code, Address pc) {
  return StepDecoder(code, pc).decode();
}

bool is_padding(const CodeStep& step) {
  return step.is(OpcodeMap::kOneByte, 0x90) || step.is(OpcodeMap::kOneByte, 0xcc) ||
         step.is(OpcodeMap::k0f, 0x1f);
}

}  // namespace svd
