// SPDX-License-Identifier: Apache-2.0
//
// svd-analyze slice on recorded programs: who decided what, where values come from, and what a
// wrong criterion gets.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "e2e/record.h"

namespace svd::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CommandResult slice(const Recording& recording, const std::vector<std::string>& words) {
  std::vector<std::string> command{SVD_BIN_DIR "/svd-analyze", "slice", recording.path()};
  command.insert(command.end(), words.begin(), words.end());
  return run_command(command);
}

// Of a program, one of its sources.
using Source = std::pair<std::string, std::string>;

class Decisions : public testing::TestWithParam<Source> {};

// Every line marked "by @x" in the source has the line marked "@x" as its nearest decision.
TEST_P(Decisions, AreAsTheSourceSays) {
  const auto& [name, file] = GetParam();
  Recording recording(program(name));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  std::ifstream source(SVD_SOURCE_DIR "/tests/programs/" + file);
  std::map<std::string, int> marked;
  std::vector<std::pair<int, std::string>> expected;
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    std::size_t comment = text.find(" // ");
    if (comment == std::string::npos) continue;
    std::string rest = text.substr(comment + 4);
    std::size_t by = rest.find("by @");
    if (rest.starts_with("@")) marked[rest.substr(1, rest.find(' ') - 1)] = line;
    if (by != std::string::npos) expected.emplace_back(line, rest.substr(by + 4));
  }
  ASSERT_GE(expected.size(), 3U);
  for (const auto& [line, by] : expected) {
    CommandResult result =
        slice(recording, {fmt::format("{}:{}", file, line), "--control", "--format=json"});
    ASSERT_EQ(result.exit_code, 0) << line << result.err;
    json statements = json::parse(result.out).at("slice").at("statements");
    ASSERT_GE(statements.size(), 2U) << line;
    EXPECT_EQ(statements[0].at("line"), line);
    EXPECT_EQ(statements[1].at("line"), marked.at(by)) << "of line " << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, Decisions,
                         testing::Values(Source{"decisions", "decisions.c"},
                                         Source{"decisions", "decisions_by_hand.S"},
                                         Source{"decisions_cc", "decisions_cc.cc"}),
                         [](const auto& test) {
                           std::string name = test.param.second;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(Slice, WrongCriteriaGetASentence) {
  Recording recording(program("decisions"));
  auto complaint = [&recording](const std::string& criterion) {
    CommandResult result = slice(recording, {criterion});
    EXPECT_EQ(result.exit_code, 2) << criterion;
    return result.err;
  };
  EXPECT_THAT(complaint("decisions.c:3"), HasSubstr("has no code; lines that have: "));
  EXPECT_THAT(complaint("decision.c:20"), HasSubstr("did you mean "));
  EXPECT_THAT(complaint("if_els"), HasSubstr("did you mean 'if_else'"));
  EXPECT_THAT(complaint("if_else@9"), HasSubstr("was executed once"));
  EXPECT_THAT(complaint("decisions.c"), HasSubstr("say decisions.c:LINE"));
  EXPECT_THAT(complaint("var:valu"), HasSubstr("did you mean 'value'"));
  EXPECT_THAT(complaint("seq:999999999999"), HasSubstr("is not in the trace, which has 0 to "));
  EXPECT_THAT(complaint("seq:5@3"), HasSubstr("a number must follow"));
  EXPECT_THAT(complaint("var:value@-5"), HasSubstr("an instruction must follow @"));
  EXPECT_THAT(complaint("reg:xmm0@5"), HasSubstr("is no general register"));
  EXPECT_THAT(complaint("pc:decision+0x10"), HasSubstr("did you mean 'decisions'"));
  EXPECT_THAT(complaint("pc:decisions+0x0"), HasSubstr("was never executed; next to it: 0x"));
  EXPECT_THAT(complaint("reg:rxx@5"), HasSubstr("did you mean 'rax'"));
  EXPECT_THAT(complaint("pc:nowhere"), HasSubstr("an address"));
  EXPECT_THAT(complaint("output:1000"), HasSubstr("the run has no writes"));
}

TEST(Slice, WhatWasNeverExecutedHasNeighboursThatWere) {
  Recording recording(program("crash segv"));
  CommandResult result = slice(recording, {"overflow_depth"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("was never executed"));
  result = slice(recording, {"crash.c:60"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("was never executed; lines that were: "));
  EXPECT_EQ(result.err.find(" 60"), std::string::npos) << result.err;
}

// The first call of abort() goes through the loader, which jumps on to it.
TEST(Slice, AnAbortIsExplainedFromTheCallInTheProgram) {
  for (const char* how : {"crash abort", "crash assert", "crash thread-assert"}) {
    Recording recording(program(how));
    CommandResult result = slice(recording, {"--format=json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    json told = json::parse(result.out).at("slice");
    std::string function = std::string(how).ends_with("abort") ? "abort_it" : "assert_it";
    EXPECT_EQ(told.at("criterion").at("function"), function) << how;
    EXPECT_GE(told.at("statements").size(), 2U) << how;
  }
}

// What the library found wrong is what it tested: that somebody had freed the block before.
TEST(Slice, ADoubleFreeIsExplainedByTheFirstOne) {
  Recording recording(program("crash double-free"));
  CommandResult result = slice(recording, {"--format=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  json told = json::parse(result.out).at("slice");
  std::set<int> lines;
  for (const json& statement : told.at("statements"))
    if (statement.at("function") == "twice") lines.insert(statement.at("line").get<int>());
  int second = told.at("criterion").at("line");
  EXPECT_EQ(told.at("criterion").at("function"), "twice");
  EXPECT_TRUE(lines.contains(second - 1)) << result.out;
}

TEST(Slice, LibrariesAreToldWhereTheyAreAskedForAndWhereThereIsNothingElse) {
  Recording recording(program("decisions"));
  const std::string libraries = "of the program and libraries";
  auto told = [&](const std::vector<std::string>& words) {
    CommandResult result = slice(recording, words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(told({"seq:100"}), AllOf(HasSubstr("\n  1. T1 "), HasSubstr(libraries)));
  EXPECT_THAT(told({"if_else"}), Not(HasSubstr(libraries)));
  EXPECT_THAT(told({"if_else", "--expand"}), HasSubstr(libraries));
}

TEST(Slice, ARunThatEndedWellHasNothingToExplainButItsEnd) {
  Recording recording(program("decisions"));
  CommandResult result = slice(recording, {});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("exited with status 0"));
}

// Where a slice's statements are.
std::set<std::string> places(const Recording& recording, std::vector<std::string> words) {
  words.emplace_back("--format=json");
  words.emplace_back("--order=none");
  CommandResult result = slice(recording, words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> all;
  json statements = json::parse(result.out).at("slice").at("statements");
  for (const json& statement : statements)
    all.insert(fmt::format("{}:{}:{}", statement.at("file").get<std::string>(),
                           statement.at("line").get<int>(),
                           statement.at("function").get<std::string>()));
  return all;
}

TEST(Slice, AChopLiesInBothSlices) {
  Recording recording(program("decisions"));
  const std::string first = "decisions.c:25@1", last = "decisions.c:29";  // a loop and its body
  std::set<std::string> chop = places(recording, {last, "--from=" + first});
  std::set<std::string> from = places(recording, {"--forward", first});
  std::set<std::string> back = places(recording, {last});
  EXPECT_GE(chop.size(), 2U);
  EXPECT_LT(chop.size(), back.size());
  EXPECT_TRUE(std::includes(back.begin(), back.end(), chop.begin(), chop.end()));
  EXPECT_TRUE(std::includes(from.begin(), from.end(), chop.begin(), chop.end()));
}

// Every line marked "from @x" follows from the one marked "@x" in another thread, by what went
// through a channel, and from no number that was lost there.
TEST(Slice, FollowsWhatGoesThroughFilesPipesAndSockets) {
  Recording recording(program("channels"));
  ASSERT_EQ(recording.result().exit_code, 0) << recording.result().err;
  EXPECT_EQ(unsound(recording.path()), "");
  std::ifstream source(SVD_SOURCE_DIR "/tests/programs/channels.c");
  std::map<std::string, int> made, used;
  int lost = 0;
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    std::size_t comment = text.find(" // ");
    if (comment == std::string::npos) continue;
    std::string rest = text.substr(comment + 4);
    if (rest == "lost") lost = line;
    if (rest.starts_with("@")) made[rest] = line;
    if (rest.starts_with("from @")) used[rest.substr(5)] = line;
  }
  ASSERT_EQ(made.size(), 5U);
  for (const auto& [name, line] : used) {
    CommandResult result =
        slice(recording, {fmt::format("channels.c:{}", line), "--data", "--format=json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    json found = json::parse(result.out).at("slice");
    std::set<int> lines;
    for (const json& statement : found.at("statements"))
      lines.insert(statement.at("line").get<int>());
    EXPECT_TRUE(lines.contains(made.at(name))) << name << result.out;
    EXPECT_FALSE(lines.contains(lost)) << name;
  }
}

// Reduces the run to what matters to the criterion, which then slices to the same; the counts.
json reduced_alike(const Recording& recording, const std::string& criterion) {
  std::string reduced = recording.path() + ".reduced";
  CommandResult result = run_command({SVD_BIN_DIR "/svd-analyze", "reduce", "--format=json",
                                      recording.path(), criterion, "-o", reduced});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(unsound(reduced), "");
  // Thousands of gaps, said once.
  CommandResult info = run_command({SVD_BIN_DIR "/svd-analyze", "info", reduced});
  std::size_t told = info.out.find("left out by svd-analyze reduce");
  EXPECT_EQ(info.out.find("left out by svd-analyze reduce", told + 1), std::string::npos);
  // All but the numbers of instructions.
  auto said = [&criterion](const std::string& path) {
    CommandResult sliced =
        run_command({SVD_BIN_DIR "/svd-analyze", "slice", "--format=json", path, criterion});
    EXPECT_EQ(sliced.exit_code, 0) << sliced.err;
    auto keep = [](int, json::parse_event_t event, const json& part) {
      return event != json::parse_event_t::key || part != "seq";
    };
    return json::parse(sliced.out, keep).dump(1);
  };
  EXPECT_EQ(said(reduced), said(recording.path()));
  return json::parse(result.out);
}

// The last output can follow from all that ran; the first transfer follows from nothing that ran
// later.
TEST(Reduce, WhatARecordedRunIsReducedToSlicesToTheSame) {
  Recording recording(program("bank"));
  reduced_alike(recording, "output:1");
  json counts = reduced_alike(recording, "transfer@1");
  EXPECT_LT(counts.at("after").at("instructions"), counts.at("before").at("instructions"));
}

}  // namespace
}  // namespace svd::test
