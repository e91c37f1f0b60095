// SPDX-License-Identifier: Apache-2.0

#include "symbols/source_text.h"

#include <fstream>
#include <iterator>
#include <system_error>

namespace svd {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

// Generated sources reach megabytes; what is larger is not for people.
constexpr std::uintmax_t kMaxBytes = 64 << 20;

}  // namespace

bool means_file(std::string_view wanted, std::string_view path) {
  while (wanted.starts_with("./")) wanted.remove_prefix(2);
  if (wanted.empty() || !path.ends_with(wanted)) return false;
  return path.size() == wanted.size() ||
         (wanted.front() != '/' && path[path.size() - wanted.size() - 1] == '/');
}

const SourceText::Text& SourceText::text_of(std::string_view file) {
  if (auto known = texts_.find(file); known != texts_.end()) return known->second;
  Text& text = texts_[std::string(file)];
  std::filesystem::path path(file);
  std::error_code error;
  // Pipes and devices would not end; a relative path means a folder that is not ours.
  if (!path.is_absolute() || !std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kMaxBytes ||
      std::filesystem::last_write_time(path, error) > built_ || error) {
    return text;
  }
  std::ifstream in(path, std::ios::binary);
  text.bytes.assign(std::istreambuf_iterator<char>(in), {});
  for (std::string_view rest = text.bytes; !rest.empty();) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    text.lines.push_back(line.substr(0, line.find_last_not_of(kBlank) + 1));
  }
  return text;
}

std::string_view SourceText::line(std::string_view file, std::uint32_t line) {
  const Text& text = text_of(file);
  return line == 0 || line > text.lines.size() ? std::string_view() : text.lines[line - 1];
}

}  // namespace svd
