// SPDX-License-Identifier: Apache-2.0
//
// Flags that the manuals call undefined after an instruction count as written: no compiler lets an
// old value pass through them.
#include "decode/semantics_rows.h"

namespace svd {
namespace {

using enum Access;
constexpr Lanes kArith = kArithmeticFlags;
constexpr Lanes kAllFlags = kArith | kDf;

constexpr AccessRow kAccessRows[] = {
    // Integer moves
    {"mov movabs movnti", kWrite, 0, 0, Special::kMove},
    {"movzx movsx movsxd movbe rdfsbase rdgsbase", kWrite},
    {"lea", kWrite, 0, 0, Special::kLea},
    {"xchg", kExchange},
    {"bswap", kUpdate},
    {"push", kRead, 0, 0, Special::kPush},
    {"pop", kWrite, 0, 0, Special::kPop},
    {"pushfq pushf", kRead, kAllFlags, 0, Special::kPushFlags},
    {"popfq popf", kRead, 0, kAllFlags, Special::kPopFlags},
    {"leave", kRead, 0, 0, Special::kLeave},
    {"cbw cwde cdqe cwd cdq cqo", kRead},
    {"xlatb", kNothing, 0, 0, Special::kTranslate},
    {"enter", kNothing, 0, 0, Special::kEnter},
    {"wrfsbase wrgsbase", kRead},

    // Integer arithmetic
    {"add and or", kUpdate, 0, kArith, Special::kAddSubtract},
    {"sub xor", kUpdate, 0, kArith, Special::kAddSubtract},
    {"adc", kUpdate, kCf, kArith},
    {"sbb", kUpdate, kCf, kArith, Special::kSubtractBorrow},
    {"inc dec", kUpdate, 0, kArith & ~kCf},
    {"neg", kUpdate, 0, kArith},
    {"not", kUpdate},
    {"cmp test", kRead, 0, kArith},
    {"mul imul", kUpdate, 0, kArith, Special::kMultiply},
    {"div idiv", kRead, 0, kArith, Special::kDivide},
    {"mulx", kWrite, 0, 0, Special::kMultiplyApart},
    {"adcx", kUpdate, kCf, kCf},
    {"adox", kUpdate, kOf, kOf},
    {"shl shr sar shld shrd", kUpdate, 0, kArith, Special::kShift},
    {"rol ror", kUpdate, 0, kCf | kOf, Special::kShift},
    {"rcl rcr", kUpdate, kCf, kCf | kOf, Special::kShift},
    {"sarx shlx shrx", kWrite, 0, 0, Special::kShiftFree},
    {"rorx pdep pext", kWrite},
    {"bextr bzhi", kWrite, 0, kArith, Special::kShiftFree},
    {"andn blsi blsr blsmsk", kWrite, 0, kArith},
    {"popcnt lzcnt tzcnt", kWrite, 0, kArith},
    {"bsf bsr", kWrite, 0, kArith, Special::kBitScan},
    {"bt", kRead, 0, kArith & ~kZf, Special::kBitTest},
    {"bts btr btc", kUpdate, 0, kArith & ~kZf, Special::kBitTest},
    {"crc32", kUpdate},
    {"xadd", kExchange, 0, kArith},
    {"cmpxchg", kUpdate, 0, kArith, Special::kCompareExchange},
    {"cmpxchg8b cmpxchg16b", kUpdate, 0, kZf},
    {"rdrand rdseed", kWrite, 0, kArith},

    // Flags
    {"clc stc", kNothing, 0, kCf},
    {"cmc", kNothing, kCf, kCf},
    {"cld std", kNothing, 0, kDf},
    {"lahf", kNothing, kCf | kPf | kAf | kZf | kSf, 0},
    {"sahf", kNothing, 0, kCf | kPf | kAf | kZf | kSf},

    // Control flow
    {"jmp ljmp", kRead, 0, 0, Special::kJump},
    {"jrcxz jecxz jcxz loop", kRead, 0, 0, Special::kCountedBranch},
    {"loope loopne", kRead, kZf, 0, Special::kCountedBranch},
    {"xbegin", kRead, 0, 0, Special::kBranch},
    {"call lcall", kRead, 0, 0, Special::kCall},
    {"ret retf retfq iretq iretd iret", kRead, 0, 0, Special::kReturn},
    {"syscall sysenter", kNothing, kAllFlags, 0, Special::kSystemCall},
    {"ud0 ud2 ud2b hlt int int1 int3 into", kNothing, 0, 0, Special::kTrap},

    // Strings
    {"movsb movsw movsq lodsb lodsw lodsd lodsq stosb stosw stosd stosq", kNothing, kDf, 0,
     Special::kString},
    {"cmpsb cmpsw cmpsq scasb scasw scasd scasq", kNothing, kDf, kArith, Special::kString},

    // Nothing that is tracked
    {"nop endbr64 endbr32 pause lfence mfence sfence prefetch prefetchw prefetcht0 prefetcht1 "
     "prefetcht2 prefetchnta xabort xend",
     kNothing},
    {"clflush clflushopt clwb", kNothing, 0, 0, Special::kTouch},
    {"xtest", kNothing, 0, kArith},
    {"cpuid rdtsc rdtscp xgetbv rdpmc rdmsr", kNothing},

    // State
    {"fxsave fxsave64 xsave xsave64 xsavec xsavec64 xsaveopt xsaveopt64", kWrite, 0, 0,
     Special::kState},
    {"fxrstor fxrstor64 xrstor xrstor64", kRead, 0, 0, Special::kState},
    {"ldmxcsr", kRead},
    {"stmxcsr", kWrite},
    {"emms femms wait", kNothing, 0, 0, Special::kX87},
    {"fst fstp fstpnce fist fistp fisttp fbstp fnstcw fnstsw fnstenv fnsave", kWrite, 0, 0,
     Special::kX87},
    {"fcomi fcomip fucomi fucomip", kRead, 0, kArith, Special::kX87},

    // Vector moves
    {"movaps movapd movups movupd movdqa movdqu movntps movntpd movntdq movntdqa movntq lddqu movd "
     "movq movdq2q movq2dq",
     kWrite, 0, 0, Special::kMove},
    {"movss movsd", kWrite, 0, 0, Special::kMoveScalar},
    {"movlps movlpd movhps movhpd movhlps movlhps movddup movshdup movsldup", kWrite},
    {"movmskps movmskpd pmovmskb pextrb pextrw pextrd pextrq extractps", kWrite},
    {"pinsrb pinsrw pinsrd pinsrq insertps", kUpdate},
    {"maskmovdqu maskmovq", kRead, 0, 0, Special::kMaskedMove},

    // Vector unary operations and conversions
    {"pabsb pabsw pabsd pshufd pshufhw pshuflw pshufw phminposuw sqrtps sqrtpd rcpps rsqrtps "
     "roundps roundpd aesimc aeskeygenassist pmovsxbw pmovsxbd pmovsxbq pmovsxwd pmovsxwq pmovsxdq "
     "pmovzxbw pmovzxbd pmovzxbq pmovzxwd pmovzxwq pmovzxdq",
     kWrite},
    {"sqrtss sqrtsd rcpss rsqrtss roundss roundsd cvtsi2ss cvtsi2sd cvtss2sd cvtsd2ss", kWrite},
    {"cvtdq2pd cvtdq2ps cvtpd2dq cvtpd2ps cvtps2dq cvtps2pd cvttpd2dq cvttps2dq cvtpd2pi cvtpi2pd "
     "cvtpi2ps cvtps2pi cvttpd2pi cvttps2pi cvtss2si cvttss2si cvtsd2si cvttsd2si",
     kWrite},

    // Vector binary operations
    {"addps addpd addss addsd subps subpd subss subsd mulps mulpd mulss mulsd divps divpd divss "
     "divsd minps minpd minss minsd maxps maxpd maxss maxsd addsubps addsubpd haddps haddpd hsubps "
     "hsubpd dpps dppd cmpps cmppd cmpss cmpsd",
     kUpdate},
    {"andps andpd orps orpd pand por pmuludq pmuldq pmulhw pmulhuw pmulhrsw pmullw pmulld pmaddwd "
     "pmaddubsw psadbw mpsadbw pavgb pavgw paddb paddw paddd paddq paddsb paddsw paddusb paddusw "
     "pminub pminuw pminud pminsb pminsw pminsd pmaxub pmaxuw pmaxud pmaxsb pmaxsw pmaxsd phaddw "
     "phaddd phaddsw phsubw phsubd phsubsw psignb psignw psignd packsswb packssdw packuswb "
     "packusdw pshufb palignr pblendw blendps blendpd shufps shufpd",
     kUpdate},
    {"punpcklbw punpcklwd punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq unpcklps "
     "unpcklpd unpckhps unpckhpd pslldq psrldq "
     "aesenc aesenclast aesdec aesdeclast pclmulqdq sha1msg1 sha1msg2 sha1nexte sha1rnds4 "
     "sha256msg1 sha256msg2 sha256rnds2 pblendvb blendvps blendvpd",
     kUpdate},
    {"psllw pslld psllq psrlw psrld psrlq psraw psrad", kUpdate, 0, 0, Special::kVectorShift},
    {"xorps xorpd pxor andnps andnpd pandn psubb psubw psubd psubq psubsb psubsw psubusb psubusw "
     "pcmpeqb pcmpeqw pcmpeqd pcmpeqq pcmpgtb pcmpgtw pcmpgtd pcmpgtq",
     kUpdate, 0, 0, Special::kZeroing},
    {"ucomiss ucomisd comiss comisd ptest pcmpestri pcmpistri pcmpestrm pcmpistrm vtestps vtestpd",
     kRead, 0, kArith},

    // AVX only
    {"kmovb kmovw kmovd kmovq knotb knotd knotq knotw kandb kandw kandd kandq korb korw kord korq "
     "kxorb kxorw kxord kxorq kxnorb kxnorw kxnord kxnorq kunpckbw kshiftlw kshiftrw",
     kWrite},
    {"kortestb kortestw kortestd kortestq", kRead, 0, kArith},
    {"vzeroupper vzeroall", kNothing, 0, 0, Special::kVectorClear},
    {"vfmaps vfmapd vfmass vfmasd", kUpdate},
    {"vmaskmovps vmaskmovpd vpmaskmovd vpmaskmovq", kWrite, 0, 0, Special::kMaskedMove},
    {"vgatherdps vgatherdpd vgatherqps vgatherqpd vpgatherdd vpgatherdq vpgatherqd vpgatherqq",
     kUpdate, 0, 0, Special::kGather},
    {"vbroadcastss vbroadcastsd vbroadcastf128 vpbroadcastb vpbroadcastw vpbroadcastd "
     "vpbroadcastq vpermd vpermq vpermps vpermpd vpermilps vpermilpd vperm2f128 vperm2i128 "
     "vinsertf128 vinserti128 vextractf128 vextracti128 vpblendd vpsllvd vpsllvq vpsrlvd vpsrlvq "
     "vpsravd vcvtph2ps vcvtps2ph vblendvps vblendvpd vpblendvb",
     kWrite},
};

constexpr Lanes kX0 = 1, kX1 = 2, kX2 = 4, kX3 = 8;
constexpr Lanes kLow = kX0 | kX1, kHigh = kX2 | kX3;
constexpr Lanes kUpper = kYmmUpper;

// def, keep, source, wide_source, vex_first
constexpr VectorRow kVectorRows[] = {
    {"addss subss mulss divss minss maxss cmpss", kX0, kX0, kX0, 0, kXmm},
    {"addsd subsd mulsd divsd minsd maxsd cmpsd", kLow, kLow, kLow, 0, kXmm},
    {"sqrtss rcpss rsqrtss roundss", kX0, 0, kX0, 0, kX1 | kHigh},
    {"sqrtsd roundsd", kLow, 0, kLow, 0, kHigh},
    {"cvtsi2ss", kX0, 0, 0, 0, kX1 | kHigh},
    {"cvtsi2sd", kLow, 0, 0, 0, kHigh},
    {"cvtss2sd", kLow, 0, kX0, 0, kHigh},
    {"cvtsd2ss", kX0, 0, kLow, 0, kX1 | kHigh},
    {"cvtss2si cvttss2si", 0, 0, kX0, 0, 0},
    {"cvtsd2si cvttsd2si", 0, 0, kLow, 0, 0},
    {"ucomiss comiss", 0, kX0, kX0, 0, 0},
    {"ucomisd comisd", 0, kLow, kLow, 0, 0},
    {"movss", kX0, 0, kX0, 0, kX1 | kHigh},
    {"movsd", kLow, 0, kLow, 0, kHigh},
    {"movd", kXmm, 0, kX0, 0, 0},
    {"movq", kXmm, 0, kLow, 0, 0},
    {"movlps movlpd", kLow, 0, kLow, 0, kHigh},
    {"movhps movhpd", kHigh, 0, kHigh, 0, kLow},
    {"movhlps", kLow, 0, kHigh, 0, kHigh},
    {"movlhps", kHigh, 0, kLow, 0, kLow},
    {"punpcklbw punpcklwd", kXmm, kLow, kLow, kLow | kUpper, kLow},
    {"unpcklps punpckldq", kX1 | kHigh, kX1, kLow, kLow | kUpper, kLow},
    {"unpcklpd punpcklqdq", kHigh, 0, kLow, kLow | kUpper, kLow},
    {"unpckhps punpckhbw punpckhwd punpckhdq", kXmm, kHigh, kHigh, kHigh | kUpper, kHigh},
    {"unpckhpd punpckhqdq", kXmm, kHigh, kHigh, kHigh | kUpper, kHigh},
    {"pmovsxbw pmovzxbw pmovsxwd pmovzxwd pmovsxdq pmovzxdq cvtdq2pd cvtps2pd", kXmm, 0, kLow, kXmm,
     0},
    {"pmovsxbd pmovzxbd pmovsxwq pmovzxwq", kXmm, 0, kX0, kLow, 0},
    {"pmovsxbq pmovzxbq", kXmm, 0, kX0, kX0, 0},
    {"movddup", kXmm, 0, kLow, kLow | kUpper, 0},
    {"movsldup", kXmm, 0, kX0 | kX2, kX0 | kX2 | kUpper, 0},
    {"movshdup", kXmm, 0, kX1 | kX3, kX1 | kX3 | kUpper, 0},
    {"movmskpd", 0, 0, kX1 | kX3, kX1 | kX3 | kUpper, 0},
    {"pmuludq pmuldq", kXmm, kX0 | kX2, kX0 | kX2, kX0 | kX2 | kUpper, kX0 | kX2},
    {"vcvtph2ps", kYmm, 0, kLow, kXmm, 0},
    {"vfmass", kX0 | kUpper, kX0, kX0, 0, kX0},
    {"vfmasd", kLow | kUpper, kLow, kLow, 0, kLow},
    {"vbroadcastss vpbroadcastd vpbroadcastb vpbroadcastw", kYmm, 0, kX0, kX0, 0},
    {"vbroadcastsd vpbroadcastq", kYmm, 0, kLow, kLow, 0},
    // The count of a shift is the lower half.
    {"psllw pslld psllq psrlw psrld psrlq psraw psrad", kXmm, kXmm, kLow, kLow, kYmm},
};

constexpr RegPart whole(Reg reg) { return {reg, kGeneral}; }
constexpr RegPart kAl{Reg::kRax, kByte0}, kAh{Reg::kRax, kByte1}, kARest{Reg::kRax, kRest},
    kDxWord{Reg::kRdx, kWord};
constexpr RegPart kA = whole(Reg::kRax), kB = whole(Reg::kRbx), kC = whole(Reg::kRcx),
                  kD = whole(Reg::kRdx);
constexpr RegPart kXmm0{Reg::kVector, kXmm};

constexpr SizeRow kSizeRows[] = {
    {"comiss ucomiss", 4},
    {"comisd ucomisd", 8},
    {"fnstsw", 2},
};

constexpr std::string_view kRounding =
    "addps addpd addss addsd subps subpd subss subsd mulps mulpd mulss mulsd divps divpd divss "
    "divsd sqrtps sqrtpd sqrtss sqrtsd minps minpd minss minsd maxps maxpd maxss maxsd addsubps "
    "addsubpd haddps haddpd hsubps hsubpd dpps dppd cmpps cmppd cmpss cmpsd ucomiss ucomisd comiss "
    "comisd roundps roundpd roundss roundsd cvtsi2ss cvtsi2sd cvtss2sd cvtsd2ss cvtss2si cvtsd2si "
    "cvtdq2ps cvtps2dq cvtpd2dq cvtpd2ps cvtps2pd vfmaps vfmapd vfmass vfmasd vcvtps2ph";

const ImplicitRow kImplicitRows[] = {
    {"cbw", {kAl}, {kAh}},
    {"cwde", {kAh}, {kARest}},
    {"cdqe", {kARest}, {kARest}},
    {"cwd", {kAh}, {kDxWord}},
    {"cdq cqo", {kARest}, {kD}},
    {"lahf", {}, {kAh}},
    {"sahf", {kAh}, {}},
    {"cpuid", {kA, kC}, {kA, kB, kC, kD}},
    {"rdtsc", {}, {kA, kD}},
    {"rdtscp", {}, {kA, kC, kD}},
    {"xgetbv rdpmc rdmsr", {kC}, {kA, kD}},
    {"cmpxchg8b cmpxchg16b", {kA, kB, kC, kD}, {kA, kD}},
    {"mulx", {kD}, {}},
    {"wrfsbase", {}, {{Reg::kFs, kWhole}}},
    {"rdfsbase", {{Reg::kFs, kWhole}}, {}},
    {"wrgsbase", {}, {{Reg::kGs, kWhole}}},
    {"rdgsbase", {{Reg::kGs, kWhole}}, {}},
    {"ldmxcsr", {}, {{Reg::kMxcsr, kWhole}}},
    {"stmxcsr", {{Reg::kMxcsr, kWhole}}, {}},
    {"pcmpestri", {kA, kD}, {kC}},
    {"pcmpistri", {}, {kC}},
    {"pcmpestrm", {kA, kD}, {kXmm0}},
    {"pcmpistrm", {}, {kXmm0}},
    {"xbegin", {kA}, {kA}},
    {"pblendvb blendvps sha256rnds2", {kXmm0}, {}},
    {"blendvpd", {{Reg::kVector, kX1 | kX3}}, {}},
};

}  // namespace

std::span<const AccessRow> access_rows() { return kAccessRows; }
std::span<const VectorRow> vector_rows() { return kVectorRows; }
std::span<const ImplicitRow> implicit_rows() { return kImplicitRows; }
std::span<const SizeRow> size_rows() { return kSizeRows; }
std::string_view rounding_names() { return kRounding; }

}  // namespace svd
