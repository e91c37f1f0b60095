// SPDX-License-Identifier: Apache-2.0
//
// What the traces of one session are called. The first gets the name that was asked for; others
// are told apart by their process, and by a number where one process is recorded in several images.
// Used by several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace svd {

class FileNames {
 public:
  // `pattern`: as with -o; "" makes names from programs.
  explicit FileNames(std::string pattern) : pattern_(std::move(pattern)) {}

  // The trace of the process's image number `image`, from 0. Asking again gives the same answer.
  std::string name(std::uint32_t pid, std::uint32_t image, const std::string& program);

 private:
  std::string make(std::uint32_t pid, const std::string& program) const;

  std::string pattern_;
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> given_;
  std::set<std::string> used_;
};

}  // namespace svd
