// SPDX-License-Identifier: Apache-2.0
//
// Source files of the recorded program, by the names that its debug information has for them, and
// their text where they are on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace svd {

// Whether a person who writes `wanted` can mean the file `path`: it is the path or its end, from a
// folder's name on.
bool means_file(std::string_view wanted, std::string_view path);

class SourceText {
 public:
  // Files that were changed after `built` are not believed.
  explicit SourceText(std::filesystem::file_time_type built) : built_(built) {}

  // Without the white space around it; "" when it is not to be had.
  std::string_view line(std::string_view file, std::uint32_t line);

 private:
  struct Text {
    std::string bytes;
    std::vector<std::string_view> lines;
  };
  const Text& text_of(std::string_view file);

  std::filesystem::file_time_type built_;
  std::map<std::string, Text, std::less<>> texts_;
};

}  // namespace svd
