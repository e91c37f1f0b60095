// SPDX-License-Identifier: Apache-2.0
//
// Files of annotations: what each rule makes of two threads, how often it was meant, and what is
// said of a wrong one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "detectors/lockset.h"
#include "detectors/races.h"
#include "support/detector_run.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kBox = 0x5000, kReady = kBox + 8, kParcel = 0x6000;
constexpr ThreadId kFirst{1}, kSecond{2};
constexpr Pc kRaise{0x401000}, kLook{0x402000}, kPut{0x403000}, kTake{0x404000};

// One thread puts a parcel somewhere and raises a flag, which the other one looks at.
class HandOver : public CodeNames {
 public:
  // Of what rules say; "" where everybody is right.
  explicit HandOver(const std::string& annotations = "") {
    SVD_CHECK(rules_.annotations.add(annotations, "test"));
    Slot read{.instruction = 0, .size = 4}, write{.instruction = 0, .size = 4, .write = true};
    raise_ = add(kRaise, {0x89, 0x07}, write);  // mov [rdi],eax
    put_ = add(kPut, {0x89, 0x07}, write);
    look_ = add(kLook, {0x8b, 0x07}, read);  // mov eax,[rdi]
    take_ = add(kTake, {0x8b, 0x07}, read);
    trace_.writer().event(kFirst, ThreadCreate{.child = kSecond, .routine = Pc(kLook)});
  }

  HandOver& raise(ThreadId thread = kFirst) { return run(thread, raise_, kReady); }
  HandOver& put(ThreadId thread = kFirst) { return run(thread, put_, kParcel); }
  HandOver& look() { return run(kSecond, look_, kReady); }
  HandOver& take() { return run(kSecond, take_, kParcel); }

  // How many pairs of places race.
  std::size_t races(bool by_locks = false) {
    TraceReader trace = trace_.finish();
    LockSets lock_sets;
    Scan scan(trace, rules_, *this, lock_sets);
    scan.find_waits();
    auto mode = by_locks ? RaceDetector::Mode::kHybrid : RaceDetector::Mode::kHappensBefore;
    RaceDetector detector("race", mode, scan.threads(), lock_sets);
    scan.add(detector);
    scan.walk({});
    return detector.findings().size();
  }
  std::vector<std::string> uses() const {
    std::vector<std::string> uses;
    for (const Annotations::Use& use : rules_.annotations.uses())
      uses.push_back(use.rule + ": " + std::to_string(use.count));
    return uses;
  }

  CodeName code(Pc) override { return {"/bin/mail", "", false}; }
  std::vector<std::string_view> functions(Pc pc) override {
    if (pc == kRaise) return {"raise(int)", "deliver"};
    return {pc == kLook ? "look" : "work"};
  }
  std::vector<Variable> variables() override {
    // A symbol of a damaged file, and what has two names.
    return {{"huge", Addr(0x10), std::uint64_t{1} << 62},
            {"box", Addr(kBox), 16},
            {"box.0", Addr(kBox), 16},
            {"parcel", Addr(kParcel), 4}};
  }
  std::string variable(Addr address, std::uint64_t) override {
    return address == Addr(kReady) ? "box.ready" : "";
  }
  std::string operand(Pc pc) override {
    return pc == kRaise ? "mail->state.ready" : pc == kLook ? "mine->state.ready" : "";
  }

 private:
  BlockId add(Pc at, const std::vector<std::uint8_t>& bytes, Slot slot) {
    Block block;
    block.instructions = {{at, static_cast<std::uint8_t>(bytes.size())}};
    block.code = bytes;
    block.slots = {slot};
    return trace_.writer().add(block);
  }
  HandOver& run(ThreadId thread, BlockId block, std::uint64_t place) {
    std::uint64_t value = 1;
    trace_.writer().run(thread);
    trace_.writer().exec(block, &place, &value);
    return *this;
  }

  Rules rules_;
  TraceBuilder trace_;
  BlockId raise_, look_, put_, take_;
};

std::size_t races_with(const std::string& annotations) {
  return HandOver(annotations).put().raise().look().take().races();
}

TEST(Annotations, WithoutThemAPlainFlagRacesAndOrdersNothing) { EXPECT_EQ(races_with(""), 2U); }

TEST(Annotations, AnAtomicVariableOrdersWhatItPublishes) {
  for (const char* rule : {"box", "box.0", "box.ready", "b?x.*", "*.ready", "[ab]ox*",
                           "mail->state.ready", "*->state.ready", "mail->state"})
    EXPECT_EQ(races_with("atomic variable " + std::string(rule)), 0U) << rule;
  for (const char* rule : {"ready", "box.read", "bo", "state", "mail", "parcels", "box.ready.x"})
    EXPECT_EQ(races_with("atomic variable " + std::string(rule)), 2U) << rule;
}

// It is atomic itself, and orders nothing.
TEST(Annotations, WhatIsNotTheFlagDoesNotPublish) {
  EXPECT_EQ(races_with("atomic variable parcel"), 1U);
}

// A read acquires, whatever code makes it; what another thread does after the write is not ordered.
TEST(Annotations, AtomicCodeIsMeantWhereItIsInlinedToo) {
  for (const char* rule : {"mail raise", "/bin/m* rai*", "* raise(int)", "* deliver"})
    EXPECT_EQ(races_with("atomic code " + std::string(rule)), 0U) << rule;
  EXPECT_EQ(races_with("atomic code * look"), 1U) << "the flag does not race, and releases nothing";
  for (const char* rule : {"libmail* raise", "mail raise(long)", "mail rais"})
    EXPECT_EQ(races_with("atomic code " + std::string(rule)), 2U) << rule;
}

TEST(Annotations, WhatComesAfterTheFlagIsNotOrdered) {
  for (const char* rule : {"atomic variable box", "atomic code * raise"}) {
    EXPECT_EQ(HandOver(rule).raise().put().look().take().races(), 1U);
    EXPECT_EQ(HandOver(rule).put().look().raise().take().races(), 1U);
  }
}

TEST(Annotations, TwoAtomicWritesDoNotRace) {
  EXPECT_EQ(HandOver().raise().raise(kSecond).races(), 1U);
  EXPECT_EQ(HandOver("atomic variable box.ready").raise().raise(kSecond).races(), 0U);
  EXPECT_EQ(HandOver("atomic code * raise").raise().raise(kSecond).races(true), 0U);
}

TEST(Annotations, CountWhatTheyMeant) {
  HandOver run(
      "# comment\n\natomic variable box.r*\natomic variable *ready  # all\natomic code * r*\n"
      "atomic variable none\natomic code mail none\n");
  run.put().raise().look().take().races();
  EXPECT_THAT(run.uses(), ElementsAre("atomic code * r*: 1", "atomic code mail none: 0",
                                      "atomic variable box.r*: 1", "atomic variable *ready: 3",
                                      "atomic variable none: 0"));
}

TEST(Annotations, NamesAsReportsWriteThem) {
  Annotations rules;
  ASSERT_TRUE(rules.add("atomic variable table[3].stop\natomic variable *->ready\n", "rules.txt"));
  EXPECT_TRUE(rules.part_of("table"));
  EXPECT_TRUE(rules.variable("table[3].stop"));
  EXPECT_TRUE(rules.variable("table[3].stop.low"));
  EXPECT_FALSE(rules.variable("table[2].stop"));
  EXPECT_TRUE(rules.variable("mail->ready"));
  // What a pointer leads to is no part of a variable.
  EXPECT_FALSE(rules.part_of("mail"));
}

// Code of a stripped program is meant by a pattern for all names, and counted.
TEST(Annotations, CodeWithoutAName) {
  Annotations rules;
  ASSERT_TRUE(rules.add("atomic code server *\natomic code server run\n", "rules.txt"));
  EXPECT_TRUE(rules.code("/bin/server", ""));
  EXPECT_EQ(rules.uses()[0].count, 1);
  EXPECT_EQ(rules.uses()[1].count, 0);
}

std::string wrong(const std::string& text) {
  Annotations rules;
  Status added = rules.add(text, "rules.txt");
  return added ? "" : added.error().describe();
}

TEST(Annotations, AWrongRuleIsToldWithItsLine) {
  EXPECT_EQ(wrong("atomic variable stop\n"), "");
  constexpr const char* kForms = "expected 'atomic code MODULE FUNCTION' or 'atomic variable GLOB'";
  EXPECT_EQ(wrong("# one\natomc variable stop\n"),
            "rules.txt:2: " + std::string(kForms) + " (did you mean 'atomic'?)");
  EXPECT_EQ(wrong("atomic variabel stop"),
            "rules.txt:1: " + std::string(kForms) + " (did you mean 'variable'?)");
  for (const char* text : {"atomic", "atomic code f", "atomic variable", "atomic variable a b",
                           "atomic code m f x", "finding * variable x"})
    EXPECT_EQ(wrong(text), "rules.txt:1: " + std::string(kForms)) << text;
}

TEST(Annotations, ASuppressionThatIsNoneSaysWhereItBelongs) {
  Suppressions rules;
  Status added = rules.add("atomic * std::atomic*\n", "rules.txt");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().describe(),
              AllOf(HasSubstr("rules.txt:1: "), HasSubstr("--annotations")));
}

// Whatever the bytes are: rules, or one sentence.
TEST(Annotations, GarbageIsRefusedInOneSentence) {
  std::mt19937 random(1);
  constexpr std::array<std::string_view, 8> kWords{"atomic", "code", "variable", "#",
                                                   "*",      "[a",   "\\",       "\n"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto words = random() % 12; words > 0; --words) {
      text += kWords[random() % kWords.size()];
      if (random() % 4 == 0) text += static_cast<char>(random() % 256);
      text += ' ';
    }
    EXPECT_EQ(wrong(text).find('\n'), std::string::npos);
    Annotations rules;
    if (rules.add(text, "rules.txt")) rules.part_of("box"), rules.variable("box[1].ready");
  }
}

}  // namespace
}  // namespace svd::test
