// SPDX-License-Identifier: Apache-2.0
//
// Inputs for the end-to-end tests, made on first use.

#include "e2e/analyze.h"

#include <algorithm>

#include "support/example_trace.h"
#include "support/small_trace.h"

namespace svd::test {
namespace {

constexpr std::uint32_t kChunkSteps = 5'000;  // so that there are several

std::string write_example(const std::string& name) {
  std::string path = temp_path(name);
  example::Options options;
  options.instructions = 20'000;
  auto writer = TraceWriter::create(path, example::process(options), WriterOptions{kChunkSteps});
  SVD_CHECK(writer);
  example::write_trace(options, **writer);
  SVD_CHECK((*writer)->finish());
  return path;
}

}  // namespace

CommandResult analyze(std::vector<std::string> words, const CommandOptions& options) {
  words.insert(words.begin(), SVD_BIN_DIR "/svd-analyze");
  return run_command(words, options);
}

const std::string& example_trace() {
  static const std::string kPath = write_example("example.fb");
  return kPath;
}

const std::string& cut_trace() {
  static const std::string kPath = [] {
    std::string path = write_example("cut.fb");
    std::string bytes = read_file(path);
    write_file(path, bytes.substr(0, bytes.size() * 95 / 100));
    return path;
  }();
  return kPath;
}

const std::string& race_text() {
  static const std::string kText =
      "svd-trace 1\n"
      "process engine=text\n"
      "var outcnt 4\n"
      "lock L\n"
      "stmt 3.05 \"if (len + buf->outcnt > SIZE)\" at log.c:1327 in writer\n"
      "stmt 3.09 \"outcnt += len\" at log.c:1331 in writer by 3.05\n"
      "T1 create T2\n"
      "T1 3.05 r outcnt=5\n"
      "T2 lock L\n"
      "T2 3.09 r outcnt=5 w outcnt=7\n"
      "T2 unlock L\n"
      "T1 3.09 r outcnt=7 w outcnt=9\n"
      "T1 signal 11 fatal=true\n";
  return kText;
}

const std::string& race_trace() {
  static const std::string kPath = [] {
    std::string path = temp_path("race.fb");
    CommandOptions options;
    options.input = race_text();
    SVD_CHECK(analyze({"assemble", "-", "-o", path}, options).exit_code == 0);
    return path;
  }();
  return kPath;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace svd::test
