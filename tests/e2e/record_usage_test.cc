// SPDX-License-Identifier: Apache-2.0
//
// svd-record as a person uses it: help, wrong use, names of files, what it says at the end, doctor.
// SVD_UPDATE=1 rewrites the expected help text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "record.h"

namespace svd::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kBinary = SVD_BIN_DIR "/svd-record";

CommandResult record(std::vector<std::string> words, const CommandOptions& options = {}) {
  words.insert(words.begin(), kBinary);
  return run_command(words, options);
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("svd-usage." + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::directory_iterator(path_)) list.push_back(entry.path().filename());
    return list;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(RecordUsage, HelpBeginsWithExamples) {
  CommandResult help = record({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  std::string expected = SVD_SOURCE_DIR "/tests/e2e/help/svd-record.txt";
  if (std::getenv("SVD_UPDATE") != nullptr) std::ofstream(expected) << help.out;
  EXPECT_EQ(help.out, read_file(expected));
}

TEST(RecordUsage, TheManPageKnowsEveryOption) {
  std::string page = read_file(SVD_SOURCE_DIR "/docs/man/svd-record.1");
  std::erase(page, '\\');
  std::istringstream lines(record({"--help"}).out);
  int options = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t start = line.find("--");
    if (!line.starts_with("  -") || start == std::string::npos) continue;
    EXPECT_THAT(page, HasSubstr(line.substr(start, line.find_first_of(" =,[", start) - start)));
    ++options;
  }
  EXPECT_GE(options, 12);
}

TEST(RecordUsage, WrongUseIsOneSentenceAndExitCode2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "a program to record is missing"},
      {{"--"}, "a program to record is missing"},
      {{"--folow", "true"}, "unknown option --folow (did you mean '--follow'?)"},
      {{"--engine=rr", "true"}, "recording by rr does not exist yet"},
      {{"--engine=qemu", "true"}, "takes auto or valgrind, not 'qemu'"},
      {{"--max-size=big", "true"}, "takes a size such as 500M or 2G, not 'big'"},
      {{"--timeout=0", "true"}, "takes a time such as 30s or 5m, not '0'"},
      {{"-o", "-", "true"}, "where the program's output goes"},
      {{"-o"}, "--output takes one value"},
  };
  for (const auto& [words, sentence] : cases) {
    CommandResult result = record(words);
    EXPECT_EQ(result.exit_code, 2) << sentence;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, AllOf(StartsWith("svd-record: "), HasSubstr(sentence)));
  }
}

TEST(RecordUsage, OptionsBehindTheProgramAreTheProgramsOwn) {
  Folder folder;
  CommandResult result =
      record({"-q", "-o", folder / "t.fb", "echo", "-o", "x.fb", "--folow", "--", "-q"});
  EXPECT_EQ(result.out, "-o x.fb --folow -- -q\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.exit_code, 0);
}

TEST(RecordUsage, TheLastLineTellsWhatToTypeNext) {
  Folder folder;
  std::string file = folder / "t.fb";
  CommandResult result = record({"-o", file, program("nothing")[0]});
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("exit status 0; 1 thread, "), HasSubstr(" instructions, "),
                    HasSubstr("; next: svd-analyze " + file + "\n")));
  EXPECT_EQ(run_command({SVD_BIN_DIR "/svd-analyze", "verify", file}).exit_code, 0);
}

TEST(RecordUsage, TheDefaultNameIsThatOfTheProgramAndProcess) {
  Folder folder;
  std::string line = "cd " + folder.path().string() + " && " + kBinary + " -q " +
                     program("nothing")[0] + " && " + kBinary + " -q -o 'x.%p' " +
                     program("nothing")[0];
  EXPECT_EQ(run_command({"/bin/sh", "-c", line}).exit_code, 0);
  EXPECT_THAT(folder.names(),
              testing::UnorderedElementsAre(testing::MatchesRegex("nothing\\.[0-9]+\\.fb"),
                                            testing::MatchesRegex("x\\.[0-9]+")));
}

TEST(RecordUsage, StatsAreOneJsonObjectOnTheLastLine) {
  Folder folder;
  CommandResult result = record({"--stats", "-q", "-o", folder / "t.fb", program("nothing")[0]});
  EXPECT_THAT(result.err, AllOf(StartsWith("{\"instructions\": "), HasSubstr("\"threads\": 1,"),
                                HasSubstr("\"engine\": \"valgrind\"")));
}

TEST(RecordUsage, WithoutValuesAndWithTheEnvironment) {
  Folder folder;
  std::string file = folder / "t.fb";
  EXPECT_EQ(record({"-q", "--no-values", "-o", file, program("nothing")[0]}).exit_code, 0);
  auto trace = TraceReader::open(file);
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->process().has_values);
  EXPECT_TRUE(trace->process().environment.empty());
  CommandOptions options;
  options.environment = {{"SVD_TEST_SECRET", "4711"}};
  EXPECT_EQ(record({"-q", "--env", "-o", file, program("nothing")[0]}, options).exit_code, 0);
  auto second = TraceReader::open(file);
  ASSERT_TRUE(second);
  EXPECT_THAT(second->process().environment, testing::Contains("SVD_TEST_SECRET=4711"));
}

TEST(RecordUsage, AtItsLimitTheTraceEndsAndTheProgramGoesOn) {
  Folder folder;
  std::string file = folder / "t.fb";
  CommandResult result = record({"-o", file, "--max-size=200K", "/bin/sh", "-c",
                                 "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; echo $i"});
  EXPECT_EQ(result.out, "60000\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("INCOMPLETE: stopped at --max-size=204800"));
  auto trace = TraceReader::open(file);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->ending().kind, EndKind::kExit);
}

TEST(RecordUsage, AProgramThatTakesTooLongIsEnded) {
  Folder folder;
  CommandResult result = record({"-q", "--timeout=1s", "-o", folder / "t.fb", "sleep", "60"});
  EXPECT_EQ(ending(result), "signal 15");
}

TEST(RecordUsage, DoctorProvesThatItWorks) {
  CommandResult result = record({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("valgrind-"), HasSubstr("recorded ")));
}

TEST(RecordUsage, DoctorNamesTheRemedy) {
  CommandOptions options;
  options.environment = {{"PATH", "/nonexistent"}};
  CommandResult result = record({"doctor"}, options);
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.out, HasSubstr("mend it: apt install valgrind"));
}

}  // namespace
}  // namespace svd::test
