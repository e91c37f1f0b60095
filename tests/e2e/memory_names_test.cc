// SPDX-License-Identifier: Apache-2.0
//
// What findings call memory that no symbol names: the member that lies there, or nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "e2e/analyze.h"
#include "e2e/record.h"

namespace svd::test {
namespace {

using nlohmann::json;

// One line accesses both members, so that its text does not tell which.
TEST(MemoryNames, AreOfTheMemberThatLiesThere) {
  Recording recording(program("ledger"), {"--chaos=3"});
  json report = json::parse(
      analyze({"--detectors=race-hb,race-harmless", "--format=json", recording.path()}).out);
  std::set<std::string> names;
  for (const json& finding : report["findings"]) {
    std::string name = finding["variable"], memory = finding["memory"];
    names.insert(name);
    std::string expected;
    if (memory.find("48 bytes") != std::string::npos)
      expected = memory.ends_with("at 40") ? "ledger->total" : "ledger->entries";
    EXPECT_THAT(name, testing::AnyOf("", expected)) << memory;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"ledger->total", "ledger->entries"}));
}

// Debug information names it in the member function only, where it is the object's that is called.
TEST(MemoryNames, AreNotOfThisWhereALineSaysMore) {
  Recording recording(program("till"), {"--chaos=3"});
  json report =
      json::parse(analyze({"--detectors=race-hb", "--format=json", recording.path()}).out);
  ASSERT_FALSE(report["findings"].empty());
  for (const json& finding : report["findings"]) EXPECT_EQ(finding["variable"], "till->coins");
}

}  // namespace
}  // namespace svd::test
