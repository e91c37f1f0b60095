// SPDX-License-Identifier: Apache-2.0
#include "decode/lane_selection.h"

namespace svd {
namespace {

Lanes lane(unsigned n) { return static_cast<Lanes>(1U << n); }
constexpr Lanes both(Lanes a, Lanes b) { return static_cast<Lanes>(a | b); }
constexpr Lanes without(Lanes a, Lanes b) { return static_cast<Lanes>(a & ~b); }

// The lanes of a 16-byte register that hold the bytes [begin, end), as far as they exist.
Lanes lanes_of_bytes(int begin, int end) {
  Lanes lanes = 0;
  for (int i = begin < 0 ? 0 : begin; i < end && i < 16; ++i)
    lanes = both(lanes, lane(static_cast<unsigned>(i) / 4));
  return lanes;
}

Lanes with_upper(Lanes lanes) { return lanes == 0 ? Lanes{0} : both(lanes, kYmmUpper); }

// Each half of a ymm is treated alike: what the low half does not tell is taken for whole.
LaneSelection widened(LaneSelection selection) {
  return {both(selection.def, kYmmUpper), with_upper(selection.kept), with_upper(selection.first),
          with_upper(selection.source)};
}

// Elements of `bytes` each are taken from the source where a bit is set.
LaneSelection blend(unsigned imm, unsigned bytes) {
  LaneSelection selection{};
  for (unsigned i = 0; i < 16 / bytes; ++i) {
    Lanes lanes = lanes_of_bytes(static_cast<int>(i * bytes), static_cast<int>((i + 1) * bytes));
    Lanes& from = imm >> i & 1 ? selection.source : selection.first;
    from = both(from, lanes);
  }
  selection.def = selection.source;
  selection.kept = selection.first & selection.source;  // lanes of which a part stays
  return selection;
}

LaneSelection shuffle_floats(unsigned imm) {
  unsigned to_lane0 = imm & 3, to_lane1 = imm >> 2 & 3;
  LaneSelection selection{kXmm, 0, both(lane(to_lane0), lane(to_lane1)),
                          both(lane(imm >> 4 & 3), lane(imm >> 6 & 3))};
  if (to_lane0 == 0)
    selection.def = without(selection.def, lane(0));
  else
    selection.kept = lane(to_lane0);
  if (to_lane1 == 1)
    selection.def = without(selection.def, lane(1));
  else
    selection.kept = both(selection.kept, lane(to_lane1));
  return selection;
}

LaneSelection shuffle_doubles(unsigned imm) {
  constexpr Lanes kLow = 0x3, kHigh = 0xc;
  Lanes source = imm & 2 ? kHigh : kLow;
  if (imm & 1) return {kXmm, kHigh, kHigh, source};
  return {kHigh, 0, kLow, source};
}

Lanes shuffled(unsigned imm) {
  Lanes lanes = 0;
  for (unsigned i = 0; i < 8; i += 2) lanes = both(lanes, lane(imm >> i & 3));
  return lanes;
}

// Words 0-3, or 4-7, by `imm`; the others keep their places.
LaneSelection shuffle_words(unsigned imm, bool high) {
  Lanes lanes = 0;
  for (unsigned i = 0; i < 8; i += 2) lanes = both(lanes, lane((imm >> i & 3) / 2));
  lanes = high ? both(static_cast<Lanes>(lanes << 2), 0x3) : both(lanes, 0xc);
  return {kXmm, 0, 0, lanes};
}

Lanes half(bool high) { return high ? 0xc : 0x3; }

LaneSelection multiply_halves(unsigned imm) {
  Lanes first = half(imm & 1);
  return {kXmm, first, first, half(imm >> 4 & 1)};
}

LaneSelection align(unsigned imm) {
  int shift = static_cast<int>(imm);
  Lanes first = lanes_of_bytes(shift - 16, shift);
  return {kXmm, first, first, lanes_of_bytes(shift, 16)};
}

// The one register is the last source of the VEX form, and the destination of the legacy one.
LaneSelection shift(int begin, int end) {
  Lanes lanes = lanes_of_bytes(begin, end);
  return {kXmm, lanes, 0, lanes};
}

LaneSelection extract(unsigned imm, unsigned bytes) {
  return {0, 0, 0, lane(imm % (16 / bytes) * bytes / 4)};
}

LaneSelection insert(unsigned imm, unsigned bytes) {
  auto at = static_cast<int>(imm % (16 / bytes) * bytes);
  Lanes def = lanes_of_bytes(at, at + static_cast<int>(bytes));
  Lanes others = without(kXmm, def);
  if (bytes < 4) return {def, def, kXmm, 0};
  return {def, 0, others, 0};
}

LaneSelection insert_float(unsigned imm) {
  Lanes def = both(lane(imm >> 4 & 3), static_cast<Lanes>(imm & 15));
  return {def, 0, without(kXmm, def), lane(imm >> 6 & 3)};
}

// A control nibble of vperm2f128: whether it takes from the first source, and which half.
void add_half(unsigned control, LaneSelection& selection) {
  if (control & 8) return;
  Lanes& from = control & 2 ? selection.source : selection.first;
  from = both(from, control & 1 ? kYmmUpper : kXmm);
}

LaneSelection permute_halves(unsigned imm) {
  LaneSelection selection{kYmm, 0, 0, 0};
  add_half(imm & 15, selection);
  add_half(imm >> 4 & 15, selection);
  selection.kept = selection.first;
  return selection;
}

}  // namespace

std::optional<LaneSelection> select_lanes(unsigned id, unsigned imm, bool wide) {
  auto maybe_wide = [&](LaneSelection selection) { return wide ? widened(selection) : selection; };
  switch (id) {
    case X86_INS_PSHUFD:
    case X86_INS_VPSHUFD:
    case X86_INS_VPERMILPS:
      return maybe_wide({kXmm, 0, 0, shuffled(imm)});
    case X86_INS_VPERMILPD:
      return maybe_wide({kXmm, 0, 0, both(half(imm & 1), half(imm >> 1 & 1))});
    case X86_INS_PSHUFLW:
    case X86_INS_VPSHUFLW:
      return maybe_wide(shuffle_words(imm, false));
    case X86_INS_PSHUFHW:
    case X86_INS_VPSHUFHW:
      return maybe_wide(shuffle_words(imm, true));
    case X86_INS_PCLMULQDQ:
    case X86_INS_VPCLMULQDQ:
      return maybe_wide(multiply_halves(imm));
    case X86_INS_SHUFPS:
    case X86_INS_VSHUFPS:
      return maybe_wide(shuffle_floats(imm));
    case X86_INS_SHUFPD:
    case X86_INS_VSHUFPD:
      return maybe_wide(shuffle_doubles(imm));
    case X86_INS_PALIGNR:
    case X86_INS_VPALIGNR:
      return maybe_wide(align(imm));
    case X86_INS_PSLLDQ:
    case X86_INS_VPSLLDQ:
      return maybe_wide(shift(0, 16 - static_cast<int>(imm)));
    case X86_INS_PSRLDQ:
    case X86_INS_VPSRLDQ:
      return maybe_wide(shift(static_cast<int>(imm), 16));
    case X86_INS_BLENDPS:
    case X86_INS_VBLENDPS:
    case X86_INS_VPBLENDD:
      return maybe_wide(blend(imm, 4));
    case X86_INS_BLENDPD:
    case X86_INS_VBLENDPD:
      return maybe_wide(blend(imm, 8));
    case X86_INS_PBLENDW:
    case X86_INS_VPBLENDW:
      return maybe_wide(blend(imm, 2));
    case X86_INS_PEXTRB:
    case X86_INS_VPEXTRB:
      return extract(imm, 1);
    case X86_INS_PEXTRW:
    case X86_INS_VPEXTRW:
      return extract(imm, 2);
    case X86_INS_PEXTRD:
    case X86_INS_VPEXTRD:
    case X86_INS_EXTRACTPS:
    case X86_INS_VEXTRACTPS:
      return extract(imm, 4);
    case X86_INS_PEXTRQ:
    case X86_INS_VPEXTRQ:
      return LaneSelection{0, 0, 0, static_cast<Lanes>(imm & 1 ? 0xc : 0x3)};
    case X86_INS_PINSRB:
    case X86_INS_VPINSRB:
      return insert(imm, 1);
    case X86_INS_PINSRW:
    case X86_INS_VPINSRW:
      return insert(imm, 2);
    case X86_INS_PINSRD:
    case X86_INS_VPINSRD:
      return insert(imm, 4);
    case X86_INS_PINSRQ:
    case X86_INS_VPINSRQ:
      return insert(imm, 8);
    case X86_INS_INSERTPS:
    case X86_INS_VINSERTPS:
      return insert_float(imm);
    case X86_INS_VPERM2F128:
    case X86_INS_VPERM2I128:
      return permute_halves(imm);
    case X86_INS_VINSERTF128:
    case X86_INS_VINSERTI128:
      if (imm & 1) return LaneSelection{kYmmUpper, 0, kXmm, kXmm};
      return LaneSelection{kXmm, 0, kYmmUpper, kXmm};
    case X86_INS_VEXTRACTF128:
    case X86_INS_VEXTRACTI128:
      return LaneSelection{kYmm, 0, 0, imm & 1 ? kYmmUpper : kXmm};
    default:
      return std::nullopt;
  }
}

}  // namespace svd
