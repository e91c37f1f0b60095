// SPDX-License-Identifier: Apache-2.0
//
// Golden tests: README.md says what a case is. Usage: golden_test [--update] [GoogleTest options];
// without --update a case passes when every command prints what stands in its file, with it the
// files are rewritten.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/small_trace.h"

namespace svd::test {
namespace {

bool update_files = false;

// What a command prints.
struct Section {
  std::string command;
  std::string output;
};

struct Case {
  std::string text;
  std::vector<Section> sections;
};

constexpr std::string_view kMark = "==== ";

// One line feed at the end of what is not empty.
std::string trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? text : text + '\n';
}

Case parse_case(std::string_view file) {
  Case result;
  std::string* current = &result.text;
  while (!file.empty()) {
    std::string_view line = file.substr(0, file.find('\n'));
    file.remove_prefix(std::min(file.size(), line.size() + 1));
    if (line.starts_with(kMark)) {
      result.sections.push_back({std::string(line.substr(kMark.size())), {}});
      current = &result.sections.back().output;
    } else {
      *current += line;
      *current += '\n';
    }
  }
  return result;
}

std::string print_case(const Case& golden) {
  std::string file = trimmed(golden.text);
  for (const Section& section : golden.sections) {
    file += fmt::format("\n{}{}\n{}", kMark, section.command, trimmed(section.output));
  }
  return file;
}

// Runs in `folder` with our commands first in the PATH; an exit status other than 0 is a last line.
std::string output_of(const std::string& command, const std::filesystem::path& folder) {
  std::string shell = fmt::format("cd '{}' && PATH='{}':\"$PATH\" && exec 2>&1 && {}",
                                  folder.string(), SVD_COMMANDS, command);
  std::FILE* pipe = popen(shell.c_str(), "r");
  if (pipe == nullptr) return "(popen failed)";
  std::string output;
  char buffer[4096];
  while (std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, count);
  int status = pclose(pipe);
  output = trimmed(output);
  if (!WIFEXITED(status)) return output + "(killed)\n";
  if (WEXITSTATUS(status) != 0) output += fmt::format("(exit {})\n", WEXITSTATUS(status));
  return output;
}

class GoldenCase : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenCase, PrintsWhatItSays) {
  std::string name = GetParam().stem();
  std::filesystem::path folder = temp_path("golden-" + name);
  std::filesystem::create_directories(folder);
  std::string file = read_file(GetParam());
  Case golden = parse_case(file);
  ASSERT_FALSE(golden.sections.empty())
      << "no command: expected a line such as ==== svd-analyze dump " << name << ".fb";
  write_file(folder / (name + ".txt"), golden.text);
  Case actual = golden;
  for (Section& section : actual.sections) section.output = output_of(section.command, folder);
  std::filesystem::remove_all(folder);
  if (update_files) {
    if (print_case(actual) != file) write_file(GetParam(), print_case(actual));
    return;
  }
  for (std::size_t i = 0; i < golden.sections.size(); ++i) {
    EXPECT_EQ(trimmed(golden.sections[i].output), actual.sections[i].output)
        << "of " << golden.sections[i].command;
  }
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SVD_GOLDEN_CASES))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenCase, testing::ValuesIn(case_files()),
                         [](const auto& golden) { return golden.param.stem().string(); });

}  // namespace
}  // namespace svd::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  svd::test::update_files = argc > 1 && std::string_view(argv[1]) == "--update";
  return RUN_ALL_TESTS();
}
