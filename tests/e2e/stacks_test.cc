// SPDX-License-Identifier: Apache-2.0
//
// What a finding says of the functions that were active: it is told of the program's own statement,
// also where a library or its header did it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/analyze.h"
#include "e2e/record.h"
#include "support/trace_builder.h"

namespace svd::test {
namespace {

using nlohmann::json;

std::vector<std::string> own_functions(const json& access) {
  std::vector<std::string> names;
  for (const json& frame : access["stack"])
    if (frame["own"].get<bool>()) names.push_back(frame["function"].get<std::string>());
  return names;
}

TEST(Stacks, FindingsStandInTheProgramsOwnCode) {
  Recording recording(program("samples"), {"--chaos=3"});
  json report =
      json::parse(analyze({"--detectors=race-hb", "--format=json", recording.path()}).out);
  ASSERT_FALSE(report["findings"].empty());
  for (const json& finding : report["findings"]) {
    for (const json& access : finding["accesses"]) {
      EXPECT_THAT(access["file"].get<std::string>(), testing::EndsWith("/samples.cc"));
      EXPECT_THAT(access["function"].get<std::string>(), testing::HasSubstr("add"));
      EXPECT_EQ(access["text"], "samples.push_back(sample);  // race");
      EXPECT_THAT(own_functions(access),
                  testing::ElementsAre(testing::HasSubstr("add"), testing::HasSubstr("measure")));
      EXPECT_FALSE(access["stack"][0]["own"].get<bool>());
      for (const json& frame : access["stack"]) {
        if (!frame["own"].get<bool>()) continue;
        EXPECT_EQ(frame["pc"], access["pc"]);
        break;
      }
    }
  }
}

TEST(Stacks, TextNamesWhoCalled) {
  Recording recording(program("samples"), {"--chaos=3"});
  std::string text = analyze({"--detectors=race-hb", recording.path()}).out;
  EXPECT_THAT(text, testing::HasSubstr("in std::vector::push_back\n"));
  EXPECT_THAT(text, testing::ContainsRegex("called from .*measure \\(samples.cc:20\\)\n"));
}

// Who jumps to a library in the place of a call and a return is on no stack.
TEST(Stacks, TailCallsStandInWhoMadeThem) {
  Recording recording(program("callers tail"), {"--chaos=3"});
  std::string text = analyze({"--detectors=race-hb", recording.path()}).out;
  EXPECT_THAT(text, testing::HasSubstr("callers.c:14 put\n"));
  EXPECT_THAT(text, testing::HasSubstr("called from tail (callers.c:26)\n"));
}

TEST(Stacks, DeepOnesAreCutInTheMiddle) {
  Recording recording(program("callers deep"), {"--chaos=3"});
  CommandResult text = analyze({"--detectors=race-hb", recording.path()});
  EXPECT_THAT(text.out, testing::HasSubstr("called from descend (callers.c:22) 200 times, deep "
                                           "(callers.c:30)\n"));
  json report =
      json::parse(analyze({"--detectors=race-hb", "--format=json", recording.path()}).out);
  const json& stack = report["findings"][0]["accesses"][0]["stack"];
  EXPECT_LT(stack.size(), 100);
  std::size_t calls = 0;
  for (const json& frame : stack)
    calls += (frame["function"] == "descend" ? 1U : 0U) + frame.value("left_out", std::size_t{0});
  EXPECT_EQ(calls, 201);
}

// A rule can mean what the library did, or who called it.
TEST(Stacks, RulesMeanFunctionsOfTheLibraryToo) {
  Recording recording(program("samples"), {"--chaos=3"});
  TempFile rules;
  for (const char* function : {"std::vector*", "*add*", "std::list*"}) {
    std::ofstream(rules.path()) << "finding * function " << function << "\n";
    std::string text =
        analyze({"--detectors=race-hb", "--suppressions=" + rules.path(), recording.path()}).out;
    bool left_out = text.find("no finding, ") != std::string::npos;
    EXPECT_EQ(left_out, std::string(function) != "std::list*") << function << "\n" << text;
  }
}

TEST(Stacks, FailureStandsInTheProgramsOwnCode) {
  Recording recording(program("crash abort"));
  EXPECT_THAT(analyze({recording.path()}).out,
              testing::HasSubstr(": killed by SIGABRT in thread 1 at crash.c:25 abort_it\n"));
}

}  // namespace
}  // namespace svd::test
