// SPDX-License-Identifier: Apache-2.0
//
// Help, wrong use, and the man page. SVD_UPDATE=1 rewrites the expected help texts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "e2e/analyze.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kVerbs{"",        "analyze",  "slice",  "shell", "reduce",
                                      "graph",   "cus",      "info",   "dump",  "verify",
                                      "recover", "assemble", "import", "export"};

std::string help_of(const std::string& verb) {
  CommandResult result = analyze(verb.empty() ? std::vector<std::string>{"--help"}
                                              : std::vector<std::string>{verb, "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  return result.out;
}

TEST(Usage, HelpThatCannotBePrintedIsAFailure) {
  CommandOptions full;
  full.stdout_path = "/dev/full";
  EXPECT_EQ(analyze({"info", "--help"}, full).exit_code, 1);
  EXPECT_EQ(analyze({"--version"}, full).exit_code, 1);
}

TEST(Usage, WhatHasNoVerbIsAnalyzed) {
  EXPECT_THAT(analyze({"--list-detectors"}).out, HasSubstr("svd-2pl"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--list-detectors"},
           {"--list-detectors", "--color", "never", "-q"},
           {"--format", "json", race_trace()},
           {"--detectors", "race-hb", "--format=json", race_trace()},
           {"--stats", "--slice=fault", "--format=json", race_trace()},
           {"--detectors=race-bh"},
           {"--list-detecters"},
           {"-q"}}) {
    std::vector<std::string> with_verb = words;
    with_verb.insert(with_verb.begin(), "analyze");
    CommandResult without = analyze(words), with = analyze(with_verb);
    EXPECT_EQ(without.exit_code, with.exit_code) << words.front();
    EXPECT_EQ(without.out, with.out) << words.front();
    EXPECT_EQ(without.err, with.err) << words.front();
  }
  EXPECT_EQ(analyze({"-q", "info", race_trace()}).out, analyze({"info", "-q", race_trace()}).out);
}

TEST(Usage, NothingBehindTwoDashesIsAnOption) {
  EXPECT_EQ(analyze({"info", "--", race_trace()}).out, analyze({"info", race_trace()}).out);
  CommandResult missing = analyze({"info", "--", "--no-such-file"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("--no-such-file"));
}

TEST(Usage, AnEmptyValueDoesNotTakeTheNextWord) {
  CommandResult result = analyze({"dump", "--limit=", race_trace()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--limit needs a value"));
}

TEST(Usage, HelpIsWhatWeWroteDown) {
  for (const std::string& verb : kVerbs) {
    std::string golden = std::string(SVD_SOURCE_DIR "/tests/e2e/help/svd-analyze") +
                         (verb.empty() ? "" : "-") + verb + ".txt";
    std::string help = help_of(verb);
    if (std::getenv("SVD_UPDATE") != nullptr) write_file(golden, help);
    EXPECT_EQ(help, std::filesystem::exists(golden) ? read_file(golden) : "") << golden;
    EXPECT_LT(help.find("Examples:"), help.find("Usage:"));
  }
}

// "-q", "--quiet", "--color" from the rows "  -q, --quiet  …" and "  --color=WHEN  …" of a help
// text.
std::vector<std::string> options_in(const std::string& help) {
  std::vector<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream words(line.substr(0, line.find("  ", 2)));
    for (std::string word; words >> word;) {
      if (word.starts_with("-")) options.push_back(word.substr(0, word.find_first_of("=,")));
    }
  }
  return options;
}

TEST(Usage, TheManPageKnowsEveryVerbAndOption) {
  std::string page = read_file(SVD_SOURCE_DIR "/docs/man/svd-analyze.1");
  std::erase(page, '\\');  // the page spells "-" as "\-"
  for (const std::string& verb : kVerbs) {
    EXPECT_THAT(page, HasSubstr(verb));
    std::vector<std::string> options = options_in(help_of(verb));
    EXPECT_GE(options.size(), 6U);
    for (const std::string& option : options) EXPECT_THAT(page, HasSubstr(option)) << verb;
  }
}

TEST(Usage, Version) {
  EXPECT_THAT(analyze({"--version"}).out, StartsWith("svd "));
  EXPECT_EQ(analyze({"dump", "--version"}).out, analyze({"--version"}).out);
}

struct WrongUse {
  std::vector<std::string> words;
  std::string sentence;
};

TEST(Usage, WrongUseIsOneSentenceAndExitCode2) {
  const std::string& trace = race_trace();
  const std::vector<WrongUse> cases{
      {{}, "a trace is missing"},
      {{"--fromat=json", trace}, "unknown option --fromat (did you mean '--format'?)"},
      {{"--slice=writer"}, "TRACE is missing"},
      {{"--depth", "5", "--slice=writer"}, "TRACE is missing"},
      {{"--slice=writer", trace, "reader"}, "unexpected argument 'reader'"},
      {{"slice", trace, "writr"}, "no function is called 'writr'"},
      {{"slice", "--format=xml", trace}, "takes text, json, dot, graphml, not 'xml'"},
      {{"slice", "--order=all,some", trace}, "takes adjacent, all, unordered, none, not 'some'"},
      {{"slice", "--from=seq:0", "--forward", trace}, "--from"},
      {{"slice", "--from=nowhere", trace}, "no function is called 'nowhere'"},
      {{"slice", "--thread=7", trace}, "the trace has no thread '7'"},
      {{"slice", "--module=libz", trace}, "the trace has no module 'libz'"},
      {{"shell"}, "TRACE is missing"},
      {{"shell", trace, "threads"}, "unexpected argument 'threads'"},
      {{"graph", "--count=x", trace}, "--count"},
      {{"info", "--jsn", trace}, "unknown option --jsn (did you mean '--json'?)"},
      {{"info", "--zebra=5", trace}, "unknown option --zebra; see svd-analyze info --help"},
      {{"dmup", trace}, "'dmup' is neither a verb nor a file (did you mean 'dump'?)"},
      {{"--fromat", "json", trace}, "unknown option --fromat (did you mean '--format'?)"},
      {{"-q", "dmup", trace}, "'dmup' is neither a verb nor a file (did you mean 'dump'?)"},
      {{"--color=never", "dmup", trace}, "'dmup' is neither a verb nor a file"},
      {{"info"}, "TRACE is missing"},
      {{"info", trace, trace}, "unexpected argument"},
      {{"info", "--format=xml", trace}, "takes text or json, not 'xml'"},
      {{"info", "--color=blue", trace}, "takes auto, always or never, not 'blue'"},
      {{"dump", "--limit=many", trace}, "takes a number such as 500 or 20K, not 'many'"},
      {{"dump", "--limit", "--json", trace}, "--limit"},
      {{"dump", "--limit=1", "--limit=2", trace}, "--limit takes one value"},
      {{"info", "--json=7", trace}, "--json takes no value"},
      {{"dump", "--seq=9..3", trace}, "the end lies before the beginning"},
      {{"dump", "--seq=x", trace}, "--seq takes A..B"},
      {{"dump", "--thread=7", trace}, "the trace has no thread '7'"},
      {{"dump", "--address=outcmt", trace}, "no variable 'outcmt' (did you mean 'outcnt'?)"},
      {{"dump", "--address=outcnt,0", trace}, "is no size in bytes"},
      {{"dump", "--address=outcnt+x", trace}, "is no offset in bytes"},
      {{"dump", "--function=writr", trace}, "no function 'writr' (did you mean 'writer'?)"},
      {{"dump", "--text", "--json", trace}, "exclude each other"},
      {{"dump", "--text", "--tail=3", trace}, "not with --limit and --tail"},
      {{"dump", trace, "-o", trace}, "this is the input"},
      {{"reduce", trace}, "-o is missing"},
      {{"reduce", trace, "-o", "-"}, "-o takes a file"},
      {{"reduce", trace, "-o", trace}, "this is the input"},
      {{"recover", trace}, "-o is missing"},
      {{"recover", trace, "-o", trace}, "this is the input"},
      {{"import", trace, "-o", "x"}, "--format is missing"},
      {{"import", "--format=rapid", trace, "-o", "x"}, "the only one so far is std, not 'rapid'"},
  };
  std::string before = read_file(trace);
  for (const WrongUse& use : cases) {
    CommandResult result = analyze(use.words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("svd-analyze"));
    EXPECT_THAT(result.err, HasSubstr(use.sentence));
    EXPECT_EQ(count_lines(result.err), 1U) << result.err;
  }
  EXPECT_EQ(read_file(trace), before);
}

TEST(Usage, OptionsMayStandBeforeTheVerb) {
  std::string usual = analyze({"dump", "--color=never", race_trace()}).out;
  EXPECT_EQ(analyze({"--color=never", "dump", race_trace()}).out, usual);
  EXPECT_EQ(analyze({"--color", "never", "dump", race_trace()}).out, usual);
  EXPECT_EQ(analyze({race_trace()}).out, analyze({"analyze", race_trace()}).out);
}

}  // namespace
}  // namespace svd::test
