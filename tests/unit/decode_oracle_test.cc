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

}  // namespace
}  // namespace svd::test
