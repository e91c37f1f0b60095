// SPDX-License-Identifier: Apache-2.0

#include "file_names.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace svd {
namespace {

constexpr std::string_view kSuffix = ".fb";

// "x.fb" and "7" to "x.7.fb".
std::string with(const std::string& name, const std::string& mark) {
  std::size_t stem = name.ends_with(kSuffix) ? name.size() - kSuffix.size() : name.size();
  return fmt::format("{}.{}{}", name.substr(0, stem), mark, name.substr(stem));
}

}  // namespace

std::string FileNames::make(std::uint32_t pid, const std::string& program) const {
  if (pattern_.empty())
    return fmt::format("{}.{}{}", std::filesystem::path(program).filename().string(), pid, kSuffix);
  std::string name;
  bool has_pid = false;
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    if (pattern_.compare(i, 2, "%p") == 0) {
      name += std::to_string(pid);
      has_pid = true;
      ++i;
    } else {
      name += pattern_[i];
    }
  }
  return given_.empty() || has_pid ? name : with(name, std::to_string(pid));
}

std::string FileNames::name(std::uint32_t pid, std::uint32_t image, const std::string& program) {
  std::lock_guard lock(mutex_);
  auto key = std::make_pair(pid, image);
  if (auto found = given_.find(key); found != given_.end()) return found->second;
  std::string base = make(pid, program);
  std::string name = base;
  for (int i = 2; !used_.insert(name).second; ++i) name = with(base, std::to_string(i));
  given_.emplace(key, name);
  return name;
}

}  // namespace svd
