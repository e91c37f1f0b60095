// SPDX-License-Identifier: Apache-2.0
//
// The decoder against the hardware and against Zydis, on a sample of the C library's instructions;
// `make oracle` takes them all, and those of servers.
#include <gtest/gtest.h>
#include <link.h>

#include "oracle/describe.h"
#include "oracle/hardware.h"
#include "oracle/report.h"

namespace svd::test {
namespace {

std::string path_of_libc() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        std::string_view name = info->dlpi_name;
        if (name.find("/libc.so") == std::string_view::npos) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &path);
  return path;
}

const Forms& libc_forms() {
  static const Forms kForms = [] {
    Forms found;
    EXPECT_TRUE(collect_forms(path_of_libc(), found));
    return found;
  }();
  return kForms;
}

// What an instruction is seen to do, by one who does not know where to look.
Observation seen_of(Code code) {
  Machine machine;
  ZydisFrontEnd front;
  return observe(machine, prepare(front, std::move(code), machine), {});
}

// The same as effects, without roles.
std::string observed(Code code) {
  Observation seen = seen_of(std::move(code));
  InstrEffects effects;
  for (std::size_t i = 0; i < kRegCount; ++i) {
    auto reg = static_cast<Reg>(i);
    if (seen.reads[i]) effects.uses.push_back({reg, seen.reads[i]});
    if (seen.writes[i]) effects.defs.push_back({reg, seen.writes[i]});
  }
  auto bytes = [](const Bytes& set) { return static_cast<std::uint16_t>(set.count()); };
  if (seen.memory_reads.any()) effects.memory.push_back({false, bytes(seen.memory_reads)});
  if (seen.memory_writes.any()) effects.memory.push_back({true, bytes(seen.memory_writes)});
  return describe(effects) + seen.left_out;
}

// Forms that few binaries have: all string instructions, BMI, shuffles by various immediates,
// gathers, masked moves, conversions, halves of flags.
constexpr const char* kRareForms =
    "a4 66a5 a5 66f3a5 ac 66ad ad 48ad f3ac aa 66ab ab 48ab 66f3ab a6 66a7 a7 48a7 f3a6 f2a7 "
    "f348a7 ae 66af af 48af f2ae f3af d7 6698 6699 9f 9e 9c 9d 6650 6658 54 5c 8f0424 ff3424 "
    "ff34c4 c9 c8100000 f8 f9 f5 fc fd c4e2e3f6c1 66480f38f6c3 f3480f38f6c3 f30f38f607 "
    "c4e37bf0c305 c4e2e3f5c1 c4e2e2f507 c4e270f7c3 c4e2f0f5c3 c4e2e0f2c1 c4e278f3db c4e2f8f30f "
    "c4e278f3d3 f3480fb8c3 f3480fbdc3 f20f38f0c3 f2480f38f107 0f38f007 480f38f107 d1d0 48d3d8 "
    "c01703 66d3c0 d20f 0fa4d805 480fad07 d227 48c13f03 c1e000 48c1e800 0fa307 480fab07 "
    "660fb307 f0480fbb07 0fba2707 660fbcc3 480fbd07 0fc0d8 480fc107 0fb0cb 480fb10f 0fc70f "
    "480fc70f 8607 86c4 f6e3 f627 f6eb 660fafc3 6bc307 f6f3 f6f9 66f7f1 f7f9 f61f f6d4 801705 "
    "18dc 660fbec3 660fb6c7 0fc8 660f4ac3 0f9ac4 660ff7ca c5f9f7ca c4e2692c0f c4e26d2e1f "
    "c4e2ed8c0f c4e2718e1f c4e261900c97 c4e265900c97 c4e2e5900c97 c4e265910c97 c4e2e1910c17 "
    "c4e261920c97 c4e2e5920c97 c4e261930c97 c4e2e5930c97 660f3a61c100 660f3a60c140 660f3a62c108 "
    "c4e37963071a c4e37960171a 660f3810ca 660f38140f 660f3815ca c4e3694acb40 c4e36d4ccb40 "
    "0f38cbca 0f3accca01 0f38c8ca 0f38ccca 660f38dcca c4e26ddccb c4e269df0f 660f38dbca "
    "660f3adfca01 660f3a44ca11 660f3841ca 660f3a42ca03 c4e36d42cb05 660ff6ca 660f3a40ca71 "
    "660f3a41ca31 c4e36d40cbff f20f7cca 660f7d0f f20fd0ca 660f3a21ca4a 660f3a210f10 "
    "c4e36921cb91 660f3a17c802 660f3a14c805 660f3a140f0f 660fc5c103 660f3a150f07 660f3a160f01 "
    "66480f3a16c801 660f3a20c804 660fc40f07 660f3a22c803 66480f3a220f01 c4e36920c804 "
    "c4e3f122c800 c4e369220f02 c4e37d39d101 c4e37d191700 c4e36d38cb01 c4e375180f00 c4e36d46cb31 "
    "c4e3fd00ca1b c4e3fd010f1b c4e26d36cb c4e26d160f c4e37d04ca1b c4e2690ccb c4e37905ca01 "
    "c4e26d0dcb c4e36902cb05 c4e3710ccb05 660f3a0dca01 660f3a0eca0f 660f3a0eca11 c4e36d0ecb55 "
    "0fc6ca4e c5ecc6cb1b c5e9c6cb02 f30f70ca1b f20f700f1b c5fd70ca39 c4e26d00cb 660f3a0fca14 "
    "c4e36d0fcb04 c5f573fa04 c5f173da04 660f73d911 660ff1ca 660fe20f c5edd3cb c5edf20f "
    "c4e26d47cb c4e269460f 660f73f105 c5f571e203 660f60ca c5ed60cb c5e962cb c5ed6dcb c5ec140f "
    "0f15ca 660f3830ca 660f38210f 660f38320f c4e27d30ca c4e27d21ca c4e27d320f c4e27d230f "
    "c4e27d34ca c4e27d250f c4e279350f f30fe6ca f30fe60f c5fee6ca c5fc5a0f 0f5a0f f20fe6ca "
    "c5fd5aca c5fde6ca c5fde60f 0f5bca f30f5b0f c4e27913ca c4e27d130f c4e37d1dd100 c4e3791d1704 "
    "f2480f2d07 f30f2dc1 f3480f2cc1 c5ea2ac8 c5ea5acb c5eb5a0f 660f51ca c5ea51cb 0f52ca "
    "f30f53ca c5ea53cb 660f3a08ca04 c4e3690bcb04 0f5fca f30f5d0f 0fc2ca01 660fc20f02 c5ecc2cb11 "
    "c5eac20f14 0f2fca 660f3817ca c4e27d170f c4e2790eca c4e27d0fca 0f50c1 660f50c1 c5fd50c1 "
    "c5fc50c2 c5fdd7c1 0f120f 0f130f 0f12ca c5e812cb c5e816cb c5e8160f c5f8170f c5e9120f "
    "c5f8130f f20f12ca f20f120f c5ff12ca c5ff120f f30f16ca f30f120f c5fe16ca 0fc307 0f2b0f "
    "660fe70f c5fde70f 660f382a0f f20ff00f c5fff00f c5f96ec8 c5f97e0f c4e1f97ec8 c5fa7e0f "
    "c5fa7eca c5ea10cb c5fa110f c5fb100f c5fd28ca c4e27d180f c4e27d18ca c4e27d19ca c4e27d1a0f "
    "c4e27d5a0f c4e27d78ca c4e279790f c4e27d590f 0fae17 0fae1f c5f8ae17 c5f8ae1f c5f877 c5fc77 "
    "c4e26db8cb c4e2e99a0f c4e269afcb c4e26d96cb c4e2e9b7cb c5ec55ca c5e9faca c5f574c9 "
    "c4e26937ca 660f3808ca 660f3804ca 660f380bca 660f3803ca 660f381eca 660f382bca 660fe00f "
    "660f38cfca 660f3aceca01 c4e36d44cb10 678b07 678d040f 64668b07 658907 648b042510000000 "
    "4801c4 488d65f8 4889ec 4883e4f0 83e000 2400 6683c8ff 48830fff 832700 28e4 18c0 4530c0 38c0 "
    "84fb 660f1f0400 0f0d0f 0faee8 f390 f30f1efa";

Forms rare_forms() {
  Forms forms;
  Code code;
  for (const char* at = kRareForms; *at != 0; at += *at == ' ' ? 1 : 2) {
    if (*at != ' ')
      code.push_back(static_cast<std::uint8_t>(std::stoi(std::string(at, 2), nullptr, 16)));
    if (*at != ' ' && at[2] != ' ' && at[2] != 0) continue;
    if (!code.empty()) forms.emplace(code, code);
    code.clear();
  }
  return forms;
}

class Oracle : public testing::Test {
 protected:
  void SetUp() override {
    if (!Machine::possible()) GTEST_SKIP() << "this processor has no AVX";
  }
};

// It sees what there is without being told where to look.
TEST_F(Oracle, Observes) {
  EXPECT_EQ(observed({0x00, 0x04, 0xcf}),  // add [rdi+rcx*8], al
            "uses rax.0 rcx rdi  defs cf pf af zf sf of  memory r1 w1");
  EXPECT_EQ(observed({0x48, 0x0f, 0x44, 0xc3}), "uses rax rbx zf  defs rax");     // cmovz rax, rbx
  EXPECT_EQ(observed({0x66, 0x89, 0xd8}), "uses rbx.w  defs rax.w");              // mov ax, bx
  EXPECT_EQ(observed({0x31, 0xc0}), "defs rax cf pf af zf sf of");                // xor eax, eax
  EXPECT_EQ(observed({0x53}), "uses rbx rsp  defs rsp  memory w8");               // push rbx
  EXPECT_EQ(observed({0xf2, 0x0f, 0x10, 0xc1}), "uses xmm1[01]  defs xmm0[01]");  // movsd
  EXPECT_EQ(observed({0xc5, 0xf8, 0x28, 0xc1}), "uses xmm1  defs xmm0[0123u]");   // vmovaps
  EXPECT_EQ(observed({0x0f, 0x0b}), "not of this processor");                     // ud2
}

TEST_F(Oracle, HardwareAgrees) {
  Report report = check_hardware(libc_forms(), 31);
  EXPECT_TRUE(report.unexplained.empty()) << report.text();
  EXPECT_GT(report.checked, 400U) << report.text();
}

TEST_F(Oracle, HardwareAgreesOnRareForms) {
  Report report = check_hardware(rare_forms(), 1);
  EXPECT_TRUE(report.unexplained.empty()) << report.text();
  EXPECT_GT(report.checked, 300U) << report.text();
}

std::string differences(const InstrEffects& claimed, const Observation& seen) {
  std::string text;
  for (const Difference& difference : compare(claimed, seen)) text += describe(difference) + "; ";
  return text;
}

TEST_F(Oracle, FindsWhatIsMissingAndWhatIsTooMuch) {
  Observation seen = seen_of({0x48, 0x01, 0x07});  // add [rdi], rax
  InstrEffects effects = Decoder().decode(std::vector<std::uint8_t>{0x48, 0x01, 0x07}, Pc{});
  EXPECT_EQ(differences(effects, seen), "");

  InstrEffects wrong = effects;
  std::erase_if(wrong.uses, [](const RegUse& use) { return use.reg == Reg::kRax; });
  wrong.uses.push_back({Reg::kRbx, kWord});
  wrong.defs[0].lanes = kCf | kDf;
  EXPECT_EQ(differences(wrong, seen),
            "missing read rax; extra read rbx.w; missing write pf af zf sf of; extra write df; ");

  wrong = effects;
  wrong.memory = {{true, 4}};
  EXPECT_EQ(differences(wrong, seen),
            "missing read memory, claimed  seen 8; missing write memory, claimed 4 seen 8; ");
  wrong.memory = {{false, 16}, {true, 8}};
  EXPECT_EQ(differences(wrong, seen), "extra read memory, claimed 16 seen 8; ");
}

TEST(ZydisCheck, Agrees) {
  Report report = check_zydis(libc_forms(), 1);
  EXPECT_TRUE(report.unexplained.empty()) << report.text();
  EXPECT_GT(report.checked, 10000U) << report.text();
}

TEST(ZydisCheck, AgreesOnRareForms) {
  Report report = check_zydis(rare_forms(), 1);
  EXPECT_TRUE(report.unexplained.empty()) << report.text();
  EXPECT_GT(report.checked, 300U) << report.text();
}

}  // namespace
}  // namespace svd::test
