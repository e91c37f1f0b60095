// SPDX-License-Identifier: Apache-2.0
//
// What each verb says about a sound trace, and about one that was recovered.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "e2e/analyze.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(Info, SaysHowTheRunEnded) {
  CommandResult result = analyze({"info", example_trace()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("killed by SIGSEGV in thread"));
  EXPECT_THAT(result.out, HasSubstr("append_log+"));
  EXPECT_THAT(result.out, HasSubstr("Missing\n  nothing\n"));
  EXPECT_THAT(analyze({"info", race_trace()}).out, HasSubstr("3.09 writer log.c:1331"));
}

TEST(Info, Json) {
  json info = json::parse(analyze({"info", "--json", example_trace()}).out);
  EXPECT_EQ(info["schema"], "svd-info/1");
  EXPECT_TRUE(info["trace"]["complete"]);
  EXPECT_EQ(info["trace"]["exit"]["kind"], "signal");
  EXPECT_EQ(info["trace"]["exit"]["value"], 11);
  EXPECT_EQ(info["trace"]["exit"]["function"], "append_log");
  EXPECT_EQ(info["threads"].size(), 4U);
  std::uint64_t instructions = 0;
  for (const json& thread : info["threads"])
    instructions += thread["instructions"].get<std::uint64_t>();
  EXPECT_EQ(info["trace"]["instructions"], instructions);
  EXPECT_EQ(json::parse(analyze({"info", "--format=json", cut_trace()}).out)["trace"]["complete"],
            false);
}

TEST(Cus, CountsAndLists) {
  for (std::string cu : {"--cu=default", "--cu=paper"}) {
    json census = json::parse(analyze({"cus", cu, "--format=json", example_trace()}).out);
    EXPECT_EQ(census["schema"], "svd-cus/1");
    json listed = json::parse(analyze({"cus", cu, "--format=json", "--list", example_trace()}).out);
    EXPECT_EQ(listed["list"].size(), census["units"]);
    std::uint64_t parts = 0, largest = 0;
    for (const json& unit : listed["list"]) {
      EXPECT_LE(unit["first"], unit["last"]);
      EXPECT_FALSE(unit["places"].empty());
      parts += unit["parts"].get<std::uint64_t>();
      largest = std::max(largest, unit["parts"].get<std::uint64_t>());
    }
    EXPECT_GT(parts, 0U);
    EXPECT_EQ(census["parts"], parts);
    EXPECT_EQ(census["largest"], largest);
    for (std::size_t i = 1; i < census["shapes"].size(); ++i)
      EXPECT_GE(census["shapes"][i - 1]["count"], census["shapes"][i]["count"]);
    std::string text = analyze({"cus", cu, example_trace()}).out;
    EXPECT_THAT(text, HasSubstr(census["units"].dump() + " units"));
  }
  // In the paper's units every instruction has its place.
  json paper = json::parse(analyze({"cus", "--cu=paper", "--format=json", race_trace()}).out);
  EXPECT_EQ(paper["parts"], paper["instructions"]);
}

TEST(Analyze, ItsSuppressionsLeaveOutItsFindings) {
  std::string all = "--detectors=all";
  json report = json::parse(analyze({all, "--format=json", race_trace()}).out);
  ASSERT_FALSE(report["findings"].empty());
  CommandResult rules = analyze({all, "--gen-suppressions", race_trace()});
  EXPECT_EQ(rules.exit_code, 0);
  std::string file = temp_path("rules");
  write_file(file, rules.out);
  json rest =
      json::parse(analyze({all, "--suppressions=" + file, "--format=json", race_trace()}).out);
  EXPECT_TRUE(rest["findings"].empty()) << rules.out << rest["findings"].dump(1);
  // Each rule that applied is counted, and nothing is left out without one.
  EXPECT_TRUE(report["suppressions"].empty());
  std::uint64_t uses = 0;
  for (const json& used : rest["suppressions"]) {
    EXPECT_THAT(rules.out, HasSubstr(used["rule"].get<std::string>()));
    uses += used["uses"].get<std::uint64_t>();
  }
  EXPECT_EQ(uses, rest["suppressed"].get<std::uint64_t>());
  EXPECT_GT(uses, 0U);
}

// Without a name for code, and with nothing but names for memory.
TEST(Analyze, ItsAnnotationsNameTheVariablesOfALog) {
  std::string log = temp_path("log.std"), file = temp_path("annotations");
  write_file(log, "T1|w(x)|1\nT1|w(flag)|2\nT2|r(flag)|3\nT2|r(x)|4\n");
  auto found = [&](const std::string& rule) {
    write_file(file, rule);
    std::vector<std::string> words{"--annotations", file, log, "--detectors=race-hb",
                                   "--format=json"};
    return json::parse(analyze(words).out)["findings"].size();
  };
  EXPECT_EQ(found(""), 1U);
  EXPECT_EQ(found("atomic variable x"), 1U);
  EXPECT_EQ(found("atomic variable fl?g"), 0U);
}

TEST(Analyze, ItsAnnotationsAreRulesOrAWrongUse) {
  std::string wrong = temp_path("wrong-rules"), none = temp_path("no-rules");
  write_file(wrong, "atomic variable x\natomic variabel x\n");
  write_file(none, "");
  EXPECT_EQ(analyze({race_trace()}).out, analyze({"--annotations", none, race_trace()}).out);
  for (const std::string& file :
       {wrong, example_trace(), std::string("/"), std::string("/no/such/file")}) {
    CommandResult result = analyze({"--annotations=" + file, race_trace()});
    EXPECT_EQ(result.exit_code, 2) << file;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(file));
    EXPECT_EQ(count_lines(result.err), 1U) << result.err;
  }
  EXPECT_THAT(analyze({"--annotations=" + wrong, race_trace()}).err,
              AllOf(HasSubstr(":2: "), HasSubstr("did you mean 'variable'?")));
}

TEST(Dump, ShowsARaceForPeople) {
  CommandResult result = analyze({"dump", race_trace()});
  EXPECT_EQ(result.out,
            "seq  thread  place                             what\n"
            "  0  1       * creates thread 2\n"
            "  0  1       3.05 writer log.c:1327            if (len + buf->outcnt > SIZE)   read "
            "outcnt = 5\n"
            "  1  2       * mutex-lock L\n"
            "  1  2       3.09 writer log.c:1331            outcnt += len   read outcnt = 5, write "
            "outcnt = 7\n"
            "  2  2       * mutex-unlock L\n"
            "  2  1       3.09 writer log.c:1331            outcnt += len   read outcnt = 7, write "
            "outcnt = 9\n"
            "  3  1       * SIGSEGV at 0x0, address 0x0, code 0, fatal\n");
}

TEST(Dump, SelectionsAreWhatAFilterOfEverythingGives) {
  std::vector<json> all = json_lines(analyze({"dump", "--json", example_trace()}).out);
  auto expect = [&](const std::vector<std::string>& options,
                    const std::function<bool(const json&)>& wanted) {
    std::vector<json> expected;
    for (const json& line : all) {
      if (wanted(line)) expected.push_back(line);
    }
    std::vector<std::string> words{"dump", "--json", example_trace()};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(json_lines(analyze(words).out), expected) << testing::PrintToString(options);
    EXPECT_FALSE(expected.empty()) << testing::PrintToString(options);
  };
  auto touches = [](const json& line, const std::string& variable) {
    for (const json& access : line.value("accesses", json::array())) {
      if (access.value("variable", "") == variable) return true;
    }
    return false;
  };
  auto seq = [](const json& line) { return line["seq"].get<std::uint64_t>(); };
  auto last = seq(all.back());
  expect({"--thread=2,worker-3"},
         [](const json& line) { return line["thread"] == 2 || line["thread"] == 4; });
  expect({"--seq=100..2K"}, [&](const json& line) {
    return seq(line) >= 100 && seq(line) <= (line.contains("event") ? 2001U : 2000U);
  });
  expect({"--seq=19900.."}, [&](const json& line) { return seq(line) >= 19900; });
  expect({"--seq=" + std::to_string(last)}, [&](const json& line) { return seq(line) == last; });
  expect({"--function=close_log"},
         [](const json& line) { return line.value("function", "") == "close_log"; });
  expect({"--address=outcnt"}, [&](const json& line) { return touches(line, "outcnt"); });
  expect({"--address=counters", "--thread=2"},
         [&](const json& line) { return touches(line, "counters") && line["thread"] == 2; });
  expect({"--address=log_mutex"},
         [&](const json& line) { return line.value("event", "") == "sync"; });
}

TEST(Dump, LimitAndTail) {
  auto lines = [](const std::vector<std::string>& options) {
    std::vector<std::string> words{"dump", "--json", example_trace()};
    words.insert(words.end(), options.begin(), options.end());
    return json_lines(analyze(words).out);
  };
  std::vector<json> all = lines({"--thread=2"});
  EXPECT_EQ(lines({"--thread=2", "--limit=7"}), std::vector<json>(all.begin(), all.begin() + 7));
  EXPECT_EQ(lines({"--thread=2", "--tail=7"}), std::vector<json>(all.end() - 7, all.end()));
  EXPECT_EQ(lines({"--thread=2", "--tail=7", "--limit=2"}),
            std::vector<json>(all.end() - 7, all.end() - 5));
  EXPECT_EQ(lines({"--thread=2", "--tail=1G"}), all);
  EXPECT_TRUE(lines({"--limit=0"}).empty());
}

TEST(Dump, TextAndBackIsTheSame) {
  std::string text = temp_path("example.txt");
  std::string trace = temp_path("again.fb");
  ASSERT_EQ(analyze({"dump", "--text", example_trace(), "-o", text}).exit_code, 0);
  ASSERT_EQ(analyze({"assemble", text, "-o", trace}).exit_code, 0);
  EXPECT_EQ(analyze({"dump", "--text", trace}).out, read_file(text));
  EXPECT_EQ(analyze({"dump", "--json", trace}).out,
            analyze({"dump", "--json", example_trace()}).out);
}

TEST(Dump, ControlCharactersDoNotReachTheTerminal) {
  CommandOptions options;
  options.input = "svd-trace 1\nstmt 1 \"\\x1b[2Jgone\"\nT1 1\n";
  std::string trace = temp_path("escape.fb");
  ASSERT_EQ(analyze({"assemble", "-", "-o", trace}, options).exit_code, 0);
  EXPECT_THAT(analyze({"dump", trace}).out, HasSubstr("\\x1b[2Jgone"));
  EXPECT_EQ(json_lines(analyze({"dump", "--json", trace}).out).at(0)["text"], "\x1b[2Jgone");
}

TEST(Verify, ASoundTrace) {
  CommandResult result = analyze({"verify", example_trace()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr(": sound: "));
  EXPECT_EQ(result.err, "");
}

TEST(Recover, KeepsWhatIsReadableAndSaysWhatIsNot) {
  std::string clean = temp_path("recovered.fb");
  CommandResult result = analyze({"recover", cut_trace(), "-o", clean});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("lost: the end of the run"));
  std::string before = analyze({"dump", "--json", cut_trace()}).out;
  std::string after = analyze({"dump", "--json", clean}).out;
  std::vector<json> lines = json_lines(after);
  EXPECT_EQ(lines.back()["event"], "gap");
  EXPECT_EQ(after.substr(0, before.size()), before);
  EXPECT_EQ(count_lines(after), count_lines(before) + 1);
  EXPECT_THAT(analyze({"info", clean}).out, HasSubstr("loss: gap: something is missing"));
}

TEST(Recover, ALostMiddleBecomesAGap) {
  std::string damaged = temp_path("middle.fb");
  std::string clean = temp_path("middle-clean.fb");
  write_small_trace(damaged);
  std::string bytes = read_file(damaged);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(damaged, bytes);
  CommandResult result = analyze({"recover", damaged, "-o", clean});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("lost: "));
  EXPECT_THAT(analyze({"dump", clean}).out, HasSubstr("GAP: "));
  EXPECT_THAT(analyze({"verify", clean}).err, HasSubstr("gap"));
}

TEST(Recover, OfASoundTraceIsACopy) {
  std::string copy = temp_path("copy.fb");
  CommandResult result = analyze({"recover", example_trace(), "-o", copy});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("lost")));
  EXPECT_EQ(analyze({"dump", "--text", copy}).out,
            analyze({"dump", "--text", example_trace()}).out);
}

TEST(ImportExport, StdAndBackIsTheSame) {
  const std::string log =
      "T0|fork(T1)|1\nT0|acq(L)|2\nT0|w(V1)|3\nT0|rel(L)|4\nT1|r(V1)|5\nT0|join(T1)|6\n";
  CommandOptions options;
  options.input = log;
  std::string trace = temp_path("std.fb");
  ASSERT_EQ(analyze({"import", "--format=std", "-", "-o", trace}, options).exit_code, 0);
  EXPECT_EQ(analyze({"export", "--format=std", trace}).out, log);
}

TEST(Assemble, ToStandardOutput) {
  CommandOptions options;
  options.input = race_text();
  EXPECT_EQ(analyze({"assemble", "-", "-o", "-"}, options).out, read_file(race_trace()));
}

}  // namespace
}  // namespace svd::test
