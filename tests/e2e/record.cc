// SPDX-License-Identifier: Apache-2.0

#include "e2e/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "support/small_trace.h"

namespace svd::test {

std::vector<std::string> program(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  words.at(0) = SVD_PROGRAM_DIR "/" + words[0];
  return words;
}

Recording::Recording(const std::vector<std::string>& words, const std::vector<std::string>& options,
                     const CommandOptions& command)
    : folder_(temp_path("recording")), path_(folder_ + "/trace.fb") {
  std::filesystem::create_directory(folder_);
  std::vector<std::string> all{SVD_BIN_DIR "/svd-record", "-o", path_};
  all.insert(all.end(), options.begin(), options.end());
  all.emplace_back("--");
  all.insert(all.end(), words.begin(), words.end());
  result_ = run_command(all, command);
}

Recording::~Recording() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> Recording::files() const {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const TraceReader& Recording::trace() {
  if (!trace_) {
    auto opened = TraceReader::open(path_);
    if (!opened) {
      throw std::runtime_error(opened.error().describe() + "; svd-record said: " + result_.err);
    }
    trace_ = std::make_unique<TraceReader>(*std::move(opened));
  }
  return *trace_;
}

std::string ending(const CommandResult& result) {
  constexpr int kSignalled = 128;
  if (result.signal != 0) return fmt::format("signal {}", result.signal);
  if (result.exit_code > kSignalled) return fmt::format("signal {}", result.exit_code - kSignalled);
  return fmt::format("exit {}", result.exit_code);
}

std::string ending(const TraceReader& trace) {
  return fmt::format("{} {}", to_string(trace.ending().kind), trace.ending().value);
}

std::string unsound(const std::string& path) {
  CommandResult result = run_command({SVD_BIN_DIR "/svd-analyze", "verify", path});
  if (result.exit_code == 0) return "";
  return fmt::format("{}: status {}: {}{}", path, result.exit_code, result.out, result.err);
}

std::string complaints(const TraceReader& trace) {
  Diagnostics all = trace.diagnostics();
  trace.scan(TraceReader::Order::kForward, {}, all, [](const Chunk&) { return true; });
  std::string text;
  for (const Diagnostic& diagnostic : all.list()) {
    if (diagnostic.severity == Severity::kInfo) continue;
    text += fmt::format("{}: {}\n", diagnostic.name, diagnostic.text);
  }
  return text;
}

}  // namespace svd::test
