// SPDX-License-Identifier: Apache-2.0

#include "e2e/examples.h"

#include <filesystem>
#include <fstream>
#include <regex>

#include "support/small_trace.h"

namespace svd::test {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<Example> examples() {
  std::ifstream file(SVD_SOURCE_DIR "/examples/manifest.json");
  json manifest = json::parse(file);
  std::vector<Example> list;
  for (const json& entry : manifest.at("examples")) list.push_back({entry});
  return list;
}

Scratch::Scratch() : path_(temp_path("example")) { fs::create_directory(path_); }

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> Scratch::command(const json& words) const {
  std::vector<std::string> command;
  for (std::string word : words) {
    word = std::regex_replace(word, std::regex(R"(\{bin\})"), SVD_EXAMPLE_DIR);
    command.push_back(std::regex_replace(word, std::regex(R"(\{scratch\})"), path_));
  }
  return command;
}

}  // namespace svd::test
