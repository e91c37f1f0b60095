// SPDX-License-Identifier: Apache-2.0
//
// Effects of common instructions, written down by hand; tests/oracle holds the decoder to the
// hardware itself.
#include <gtest/gtest.h>

#include "decode/decoder.h"
#include "oracle/describe.h"

namespace svd::test {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

struct Case {
  const char* assembly;
  const char* code;
  const char* effects;
};

constexpr Case kCases[] = {
    {"mov rax,rbx", "4889d8", "uses rbx  defs rax  copy"},
    {"mov eax,ebx", "89d8", "uses rbx  defs rax  copy"},
    {"mov al,bh", "88f8", "uses rbx.1  defs rax.0  copy"},
    {"mov ax,[rbx+rcx*4+0x8]", "668b448b08", "uses rbx:addr rcx:addr  defs rax.w  memory r2  copy"},
    {"mov [rsp+0x8],rdi", "48897c2408", "uses rdi rsp:stack  memory w8  copy"},
    {"mov rdi,[rbp-0x8]", "488b7df8", "uses rbp:addr  defs rdi  memory r8  copy"},
    {"mov [rax],0x7", "48c70007000000", "uses rax:addr  memory w8"},
    {"mov rax,fs:0x28", "64488b042528000000", "uses fs:addr  defs rax  memory r8  copy"},
    {"mov rax,[rip+0x10]", "488b0510000000", "defs rax  memory r8  copy"},
    {"movzx eax,[rsi]", "0fb606", "uses rsi:addr  defs rax  memory r1"},
    {"movsxd rdx,ecx", "4863d1", "uses rcx  defs rdx"},
    {"lea rax,[rbx+rcx*2+0x1]", "488d444b01", "uses rbx rcx  defs rax"},
    {"lea rsp,[rsp-0x80]", "488d642480", "uses rsp:stack  defs rsp:stack"},
    {"lea rcx,[rsp+0x8]", "488d4c2408", "uses rsp  defs rcx"},
    {"add rax,rbx", "4801d8", "uses rbx rax  defs rax cf pf af zf sf of"},
    {"add [rdi],0x1", "830701", "uses rdi:addr  defs cf pf af zf sf of  memory r4 w4"},
    {"lock add [rdi],0x1", "f0830701",
     "uses rdi:addr  defs cf pf af zf sf of  memory r4 w4  atomic"},
    {"adc rax,rdx", "4811d0", "uses rdx rax cf  defs rax cf pf af zf sf of"},
    {"sbb eax,eax", "19c0", "uses cf  defs rax pf af zf sf of"},
    {"sub rsp,0x28", "4883ec28", "uses rsp:stack  defs rsp:stack cf pf af zf sf of"},
    {"sub rsp,rax", "4829c4", "uses rax rsp  defs rsp cf pf af zf sf of"},
    {"and rsp,0xffffffffffffffe0", "4883e4e0", "uses rsp:stack  defs rsp:stack cf pf af zf sf of"},
    {"xor eax,eax", "31c0", "defs rax cf pf af zf sf of"},
    {"xor eax,ecx", "31c8", "uses rcx rax  defs rax cf pf af zf sf of"},
    {"and eax,0x0", "83e000", "defs rax cf pf af zf sf of"},
    {"or rax,0xffffffffffffffff", "4883c8ff", "defs rax cf pf af zf sf of"},
    {"inc ecx", "ffc1", "uses rcx  defs rcx pf af zf sf of"},
    {"neg rax", "48f7d8", "uses rax  defs rax cf pf af zf sf of"},
    {"not [rax]", "48f710", "uses rax:addr  memory r8 w8"},
    {"cmp rax,[rbx]", "483b03", "uses rbx:addr rax  defs cf pf af zf sf of  memory r8"},
    {"test eax,eax", "85c0", "uses rax  defs cf pf af zf sf of"},
    {"test [rax],0x1", "f60001", "uses rax:addr  defs cf pf af zf sf of  memory r1"},
    {"mul rcx", "48f7e1", "uses rcx rax  defs rax rdx cf pf af zf sf of"},
    {"imul rax,rcx", "480fafc1", "uses rcx rax  defs rax cf pf af zf sf of"},
    {"imul eax,[rcx],0x5", "6b0105", "uses rcx:addr  defs rax cf pf af zf sf of  memory r4"},
    {"div ecx", "f7f1", "uses rcx rax rdx  defs rax rdx cf pf af zf sf of"},
    {"shl rax,0x3", "48c1e003", "uses rax  defs rax cf pf af zf sf of"},
    {"shl eax,cl", "d3e0", "uses cf pf af zf sf of rcx.0 rax  defs rax cf pf af zf sf of"},
    {"rol rax,1", "48d1c0", "uses rax  defs rax cf of"},
    {"rcr rax,1", "48d1d8", "uses rax cf  defs rax cf of"},
    {"shld rax,rbx,cl", "480fa5d8",
     "uses cf pf af zf sf of rbx rcx.0 rax  defs rax cf pf af zf sf of"},
    {"bsf rax,rbx", "480fbcc3", "uses rax rbx  defs rax cf pf af zf sf of"},
    {"tzcnt rax,rbx", "f3480fbcc3", "uses rbx  defs rax cf pf af zf sf of"},
    {"bt rax,0x3", "480fbae003", "uses rax  defs cf pf af sf of"},
    {"bts [rdi],rax", "480fab07", "uses rax:addr rax rdi:addr  defs cf pf af sf of  memory r8 w8"},
    {"bswap rax", "480fc8", "uses rax  defs rax"},
    {"cdqe", "4898", "uses rax.r  defs rax.r"},
    {"cqo", "4899", "uses rax.r  defs rdx"},
    {"xchg rcx,rax", "4891", "uses rcx rax  defs rcx rax"},
    {"xchg [rdi],eax", "8707", "uses rax rdi:addr  defs rax  memory r4 w4  atomic"},
    {"lock cmpxchg [rdi],ecx", "f00fb10f",
     "uses rax rcx rdi:addr  defs rax cf pf af zf sf of  memory r4 w4  atomic"},
    {"lock cmpxchg16b [rdi]", "f0480fc70f",
     "uses rdi:addr rax rbx rcx rdx  defs zf rax rdx  memory r16 w16  atomic"},
    {"lock xadd [rdi],eax", "f00fc107",
     "uses rax rdi:addr  defs rax cf pf af zf sf of  memory r4 w4  atomic"},
    {"push rbx", "53", "uses rbx rsp:stack  defs rsp:stack  memory w8  copy"},
    {"push 0x3", "6a03", "uses rsp:stack  defs rsp:stack  memory w8"},
    {"push [rax]", "ff30", "uses rax:addr rsp:stack  defs rsp:stack  memory r8 w8  copy"},
    {"pop rbx", "5b", "uses rsp:stack  defs rsp:stack rbx  memory r8  copy"},
    {"pop [rax]", "8f00", "uses rsp:stack rax:addr  defs rsp:stack  memory r8 w8  copy"},
    {"leave", "c9", "uses rbp:stack  defs rsp:stack rbp  memory r8"},
    {"call target", "e81b000000", "uses rsp:stack  defs rsp:stack  memory w8  flow call 0x1020"},
    {"call rax", "ffd0", "uses rax:cond rsp:stack  defs rsp:stack  memory w8  flow indirect-call"},
    {"call [rax+0x8]", "ff5008",
     "uses rax:addr rsp:stack  defs rsp:stack  memory r8 w8  flow indirect-call"},
    {"ret", "c3", "uses rsp:stack  defs rsp:stack  memory r8  flow return"},
    {"jmp target", "eb1e", "flow jump 0x1020"},
    {"jmp [rax*8+0x100]", "ff24c500010000", "uses rax:addr  memory r8  flow indirect-jump"},
    {"jne target", "751e", "uses zf:cond  flow branch 0x1020"},
    {"jle target", "7e1e", "uses zf:cond sf:cond of:cond  flow branch 0x1020"},
    {"jrcxz target", "e31e", "uses rcx:cond  flow branch 0x1020"},
    {"loop target", "e21e", "uses rcx:cond  defs rcx  flow branch 0x1020"},
    {"cmovl rax,rbx", "480f4cc3", "uses rbx rax sf:cond of:cond  defs rax"},
    {"sete al", "0f94c0", "uses zf  defs rax.0"},
    {"setg [rdi]", "0f9f07", "uses rdi:addr zf sf of  memory w1"},
    {"rep stos es:[rdi],rax", "f348ab",
     "uses rcx:cond rax rdi:addr df:cond  defs rdi rcx  memory w0  repeated"},
    {"rep movs es:[rdi],ds:[rsi]", "f3a4",
     "uses rcx:cond rsi:addr rdi:addr df:cond  defs rsi rdi rcx  memory r0 w0  copy  repeated"},
    {"movs es:[rdi],ds:[rsi]", "48a5",
     "uses rsi:addr rdi:addr df:cond  defs rsi rdi  memory r8 w8  copy"},
    {"repz cmps ds:[rsi],es:[rdi]", "f3a6",
     "uses rcx:cond rsi:addr rdi:addr df:cond cf pf af zf sf of  defs rsi rdi cf pf af zf sf of "
     "rcx  memory r0 r0  repeated"},
    {"repnz scas al,es:[rdi]", "f2ae",
     "uses rcx:cond rax.0 rdi:addr df:cond cf pf af zf sf of  defs rdi cf pf af zf sf of rcx  "
     "memory r0  repeated"},
    {"lods eax,ds:[rsi]", "ad", "uses rsi:addr df:cond  defs rsi rax  memory r4"},
    {"syscall", "0f05", "uses rax cf pf af zf sf df of  defs rax rcx r11  flow system-call"},
    {"cpuid", "0fa2", "uses rax rcx  defs rax rbx rcx rdx"},
    {"rdtsc", "0f31", "defs rax rdx"},
    {"nop [rax+rax*1]", "0f1f0400", ""},
    {"endbr64", "f30f1efa", ""},
    {"pause", "f390", ""},
    {"ud2", "0f0b", "flow trap"},
    {"hlt", "f4", "flow trap"},
    {"pushf", "9c", "uses rsp:stack cf pf af zf sf df of  defs rsp:stack  memory w8"},
    {"popf", "9d", "uses rsp:stack  defs rsp:stack cf pf af zf sf df of  memory r8"},
    {"cld", "fc", "defs df"},
    {"movaps xmm0,xmm1", "0f28c1", "uses xmm1  defs xmm0  copy"},
    {"movups [rdi],xmm0", "0f1107", "uses xmm0 rdi:addr  memory w16  copy"},
    {"movdqu xmm0,[rsi]", "f30f6f06", "uses rsi:addr  defs xmm0  memory r16  copy"},
    {"movss xmm0,[rsi]", "f30f1006", "uses rsi:addr  defs xmm0  memory r4  copy"},
    {"movss xmm0,xmm1", "f30f10c1", "uses xmm1[0]  defs xmm0[0]  copy"},
    {"movsd xmm0,[rsi]", "f20f1006", "uses rsi:addr  defs xmm0  memory r8  copy"},
    {"movsd [rdi],xmm0", "f20f1107", "uses xmm0[01] rdi:addr  memory w8  copy"},
    {"movsd xmm0,xmm1", "f20f10c1", "uses xmm1[01]  defs xmm0[01]  copy"},
    {"movq xmm0,rax", "66480f6ec0", "uses rax  defs xmm0  copy"},
    {"movq rax,xmm0", "66480f7ec0", "uses xmm0[01]  defs rax  copy"},
    {"movq xmm0,xmm1", "f30f7ec1", "uses xmm1[01]  defs xmm0  copy"},
    {"movd xmm0,eax", "660f6ec0", "uses rax  defs xmm0  copy"},
    {"movd eax,xmm0", "660f7ec0", "uses xmm0[0]  defs rax  copy"},
    {"movq [rdi],xmm0", "660fd607", "uses xmm0[01] rdi:addr  memory w8  copy"},
    {"movhps xmm0,[rsi]", "0f1606", "uses rsi:addr  defs xmm0[23]  memory r8"},
    {"movhps [rdi],xmm0", "0f1707", "uses xmm0[23] rdi:addr  memory w8"},
    {"movlpd xmm0,[rsi]", "660f1206", "uses rsi:addr  defs xmm0[01]  memory r8"},
    {"movlhps xmm0,xmm1", "0f16c1", "uses xmm1[01]  defs xmm0[23]"},
    {"addsd xmm0,xmm1", "f20f58c1", "uses xmm1[01] xmm0[01] mxcsr:cond  defs xmm0[01]"},
    {"addsd xmm0,[rsi]", "f20f5806", "uses rsi:addr xmm0[01] mxcsr:cond  defs xmm0[01]  memory r8"},
    {"mulps xmm0,xmm1", "0f59c1", "uses xmm1 xmm0 mxcsr:cond  defs xmm0"},
    {"sqrtsd xmm0,xmm1", "f20f51c1", "uses xmm1[01] mxcsr:cond  defs xmm0[01]"},
    {"cvtsi2sd xmm0,rax", "f2480f2ac0", "uses rax mxcsr:cond  defs xmm0[01]"},
    {"cvttsd2si eax,xmm0", "f20f2cc0", "uses xmm0[01]  defs rax"},
    {"cvtss2sd xmm0,xmm1", "f30f5ac1", "uses xmm1[0] mxcsr:cond  defs xmm0[01]"},
    {"ucomisd xmm0,[rsi]", "660f2e06",
     "uses rsi:addr xmm0[01] mxcsr:cond  defs cf pf af zf sf of  memory r8"},
    {"pxor xmm0,xmm0", "660fefc0", "defs xmm0"},
    {"pxor xmm0,xmm1", "660fefc1", "uses xmm1 xmm0  defs xmm0"},
    {"pcmpeqd xmm0,xmm0", "660f76c0", "defs xmm0"},
    {"pshufd xmm0,xmm1,0x0", "660f70c100", "uses xmm1[0]  defs xmm0"},
    {"punpcklqdq xmm0,xmm0", "660f6cc0", "uses xmm0[01]  defs xmm0[23]"},
    {"pmovmskb eax,xmm0", "660fd7c0", "uses xmm0  defs rax"},
    {"andps xmm0,[rsi]", "0f5406", "uses rsi:addr xmm0  defs xmm0  memory r16"},
    {"cmpltsd xmm0,xmm1", "f20fc2c101", "uses xmm1[01] xmm0[01] mxcsr:cond  defs xmm0[01]"},
    {"vaddsd xmm0,xmm1,xmm2", "c5f358c2", "uses xmm1 xmm2[01] mxcsr:cond  defs xmm0[0123u]"},
    {"vmovdqu ymm0,[rsi]", "c5fe6f06", "uses rsi:addr  defs xmm0[0123u]  memory r32  copy"},
    {"vmovdqu [rdi],ymm0", "c5fe7f07", "uses xmm0[0123u] rdi:addr  memory w32  copy"},
    {"vmovss xmm0,[rsi]", "c5fa1006", "uses rsi:addr  defs xmm0[0123u]  memory r4  copy"},
    {"vmovsd xmm0,xmm1,xmm2", "c5f310c2", "uses xmm1[23] xmm2[01]  defs xmm0[0123u]"},
    {"vpxor xmm0,xmm0,xmm0", "c5f9efc0", "defs xmm0[0123u]"},
    {"vpaddd ymm0,ymm1,ymm2", "c5f5fec2", "uses xmm1[0123u] xmm2[0123u]  defs xmm0[0123u]"},
    {"vzeroupper", "c5f877",
     "defs xmm0[u] xmm1[u] xmm2[u] xmm3[u] xmm4[u] xmm5[u] xmm6[u] xmm7[u] xmm8[u] xmm9[u] "
     "xmm10[u] xmm11[u] xmm12[u] xmm13[u] xmm14[u] xmm15[u]"},
    {"vfmadd213sd xmm0,xmm1,xmm2", "c4e2f1a9c2",
     "uses xmm1[01] xmm2[01] xmm0[01] mxcsr:cond  defs xmm0[01u]"},
    {"fld [rsi]", "dd06", "uses rsi:addr x87  defs x87  memory r8"},
    {"fstp [rdi]", "dd1f", "uses rdi:addr x87  defs x87  memory w8"},
    {"fnstsw ax", "dfe0", "uses x87  defs rax.w x87"},
};

TEST(Decode, CommonInstructions) {
  Decoder decoder;
  for (const Case& c : kCases) {
    InstrEffects effects = decoder.decode(bytes_of(c.code), Pc{0x1000});
    EXPECT_EQ(describe(effects), c.effects) << c.assembly;
    EXPECT_EQ(effects.length * 2U, std::string_view(c.code).size()) << c.assembly;
  }
}

TEST(Decode, WhatIsNoInstructionIsUnknown) {
  Decoder decoder;
  for (const char* code : {"", "06", "0f", "48", "c5f8"}) {
    InstrEffects effects = decoder.decode(bytes_of(code), Pc{0x1000});
    EXPECT_FALSE(effects.known) << code;
    EXPECT_EQ(effects.length, 0) << code;
  }
}

TEST(Decode, Block) {
  Block block{.instructions = {{Pc{0x10}, 1}, {Pc{0x11}, 3}, {Pc{0x14}, 2}},
              .code = bytes_of("554889e5ebfe")};
  std::vector<InstrEffects> all = Decoder().decode(block);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(describe(all[0]), "uses rbp rsp:stack  defs rsp:stack  memory w8  copy");
  EXPECT_EQ(describe(all[1]), "uses rsp  defs rbp  copy");
  EXPECT_EQ(describe(all[2]), "flow jump 0x14");
}

}  // namespace
}  // namespace svd::test
